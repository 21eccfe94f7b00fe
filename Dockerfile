# docker build -t normrag . && docker run --rm -p 127.0.0.1:8501:8501 normrag
# A container is a shared machine: uploads live in memory for one browser session (NORMRAG_SHARED=1). See docs/deploy.md.
FROM python:3.11-slim-bookworm

RUN apt-get update \
 && apt-get install -y --no-install-recommends make curl \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --create-home normrag

WORKDIR /app
COPY Makefile requirements.txt requirements.lock ./
RUN make setup PYTHON=python3 && rm -rf ~/.cache

COPY app.py LICENSE README.md ./
COPY .streamlit .streamlit
COPY pages pages
COPY normrag_core normrag_core
COPY data data

USER normrag
ENV NORMRAG_SHARED=1 PYTHONDONTWRITEBYTECODE=1
EXPOSE 8501
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s CMD curl -fsS http://127.0.0.1:8501/_stcore/health || exit 1
CMD [".venv/bin/python", "-m", "streamlit", "run", "app.py", "--server.address", "0.0.0.0", "--server.port", "8501"]
