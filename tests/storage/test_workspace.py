"""The workspace on disk and in memory: what is kept comes back whole, whatever it is called and whenever the run is killed."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest

from normrag_core import files
from normrag_core.config import RetrieverConfig
from normrag_core.embedding.hashing import HashEmbedder
from normrag_core.model import Block, Document, InfoUnit, Line, ParsedDocument, Rect
from normrag_core.storage import MemoryWorkspace, Workspace, WorkspaceError, blobs

PDF = b"%PDF-1.7 synthetic"
NAMES = ["../../escape", "x" * 300, "😀", "", "a/b\\c", "CON", "é\x00", "\ud800"]


def parsed(name: str, sha256: str = "") -> ParsedDocument:
    key = f"{name} V1.1.1"
    root = InfoUnit(f"{key}#", key, "", "", name, "document", None, 1)
    clause = InfoUnit(
        f"{key}#4",
        key,
        "4",
        "4",
        "Général 😀 \ud800",
        "clause",
        "",
        2,
        body="The limit is 5 V.",
        blocks=(Block("paragraph", 0, 17),),
        lines=(Line(0, 17, Rect(2, 1.0, 2.0, 3.5, 4.0)),),
    )
    return ParsedDocument(Document(key, name, "V1.1.1", "2020-01", name, 2, "a.pdf", sha256), (root, clause))


@pytest.fixture(params=["disk", "memory"])
def workspace(request: pytest.FixtureRequest, tmp_path: Path) -> Workspace | MemoryWorkspace:
    return Workspace(tmp_path / "w") if request.param == "disk" else MemoryWorkspace()


def test_documents_come_back_equal_and_in_order(workspace: Workspace | MemoryWorkspace) -> None:
    given = [parsed("Z", "ff"), parsed("A", "00"), parsed("M", "77")]
    for one in given:
        workspace.add(one, PDF + one.document.key.encode())
    assert workspace.documents() == given
    assert [d.id for d in workspace.corpus().documents] == ["Z", "A", "M"]
    assert workspace.original("00") == PDF + b"A V1.1.1"
    assert workspace.original(given[2].document) == PDF + b"M V1.1.1"


def test_only_pdfs_are_kept_as_originals(workspace: Workspace | MemoryWorkspace) -> None:
    workspace.add(parsed("A", "00"), b'{"document": {}}')
    workspace.add(parsed("B"))
    assert not workspace.has_original("00")
    assert workspace.original("B V1.1.1") is None


def test_a_full_session_keeps_what_it_had_and_takes_more_once_there_is_room() -> None:
    workspace = MemoryWorkspace(limit=20_000)
    workspace.add(parsed("A", "00"), PDF + bytes(12_000))
    for size in (30_000, 7_400):  # The file itself does not fit; it does, but not what was read from it.
        with pytest.raises(WorkspaceError, match=r"may hold 0 MB and holds 0\.0 MB.*remove documents"):
            workspace.add(parsed("B", "11"), PDF + bytes(size))
        assert not workspace.has_original("11")
    assert [d.id for d in workspace.corpus().documents] == ["A"]
    workspace.keep_part(workspace.corpus().documents[0], "large", bytes(30_000))
    assert workspace.part(workspace.corpus().documents[0], "large") is None
    workspace.remove("00")
    workspace.add(parsed("B", "11"), PDF + bytes(15_000))
    assert [d.id for d in workspace.corpus().documents] == ["B"]


def test_two_files_with_one_id_are_two_documents(workspace: Workspace | MemoryWorkspace) -> None:
    one, two = parsed("A", "00"), parsed("A", "11")
    workspace.add(one, PDF)
    workspace.add(two, PDF)
    workspace.add(two, PDF)
    assert len(workspace.documents()) == 2
    workspace.remove(two.document)
    assert workspace.documents() == [one]


def test_removal_by_hash_key_or_document_takes_original_and_vectors_along(workspace: Workspace | MemoryWorkspace) -> None:
    for name, sha256 in (("A", "00"), ("B", "11"), ("C", "22")):
        workspace.add(parsed(name, sha256), PDF)
        workspace.vectors.embed(HashEmbedder(), [f"text of {name}"], owners=[sha256])
    workspace.remove("00")
    workspace.remove("B V1.1.1")
    workspace.remove("no such document")
    assert [p.document.id for p in workspace.documents()] == ["C"]
    assert [workspace.has_original(h) for h in ("00", "11", "22")] == [False, False, True]
    assert len(workspace.vectors) == 1


def test_presets_sets_runs_and_notes_by_any_name(workspace: Workspace | MemoryWorkspace) -> None:
    config = RetrieverConfig(alpha=0.5, smoothing_relations=("parent",))
    for name in NAMES:
        workspace.save_preset(name, config)
        workspace.save_question_set(name, '{"id": 1}\n')
        workspace.save_run(name, {"R@10": 0.5})
        workspace.remember(name, "yes")
    assert workspace.presets() == dict.fromkeys(NAMES, config)
    assert list(workspace.question_sets()) == NAMES
    assert workspace.runs()["😀"] == {"R@10": 0.5}
    assert workspace.recall("a/b\\c") == "yes"
    assert workspace.recall("never said") == ""
    workspace.remove_preset("😀")
    workspace.remove_question_set("")
    workspace.remove_run("../../escape")
    assert len(workspace.presets()) == len(workspace.question_sets()) == len(workspace.runs()) == len(NAMES) - 1


def test_a_preset_of_another_version_is_left_out(workspace: Workspace | MemoryWorkspace) -> None:
    workspace.save_preset("good", RetrieverConfig())
    workspace._put("presets", "bad", {"no_such_setting": 1})
    assert list(workspace.presets()) == ["good"]


def test_clear_deletes_everything(workspace: Workspace | MemoryWorkspace) -> None:
    workspace.add(parsed("A", "00"), PDF)
    workspace.vectors.embed(HashEmbedder(), ["a"])
    workspace.save_preset("p", RetrieverConfig())
    workspace.save_run("r", {})
    workspace.save_question_set("q", "")
    workspace.remember("n", "v")
    workspace.clear()
    assert not workspace.documents()
    assert not len(workspace.vectors)
    assert (workspace.presets(), workspace.runs(), workspace.question_sets(), workspace.recall("n")) == ({}, {}, {}, "")


def test_names_never_reach_the_file_system_and_formats_are_plain(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path / "w")
    for name in NAMES:
        workspace.save_run(name, {})
    workspace.add(parsed("A", "00"), PDF)
    (tmp_path / "w" / "lock").unlink(missing_ok=True)
    found = {p.relative_to(tmp_path / "w").parts for p in (tmp_path / "w").rglob("*") if p.is_file()}
    assert all(len(p) == 1 or (len(p) == 2 and len(p[1]) == 32 and int(p[1], 16) >= 0) for p in found)
    assert list(tmp_path.iterdir()) == [tmp_path / "w"]
    (document,) = (tmp_path / "w" / "documents").iterdir()
    assert json.loads(gzip.decompress(document.read_bytes()))["document"]["id"] == "A"


def test_memory_writes_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    workspace = MemoryWorkspace()
    workspace.add(parsed("A"), PDF)
    workspace.vectors.embed(HashEmbedder(), ["a"])
    assert not list(tmp_path.rglob("*"))


@pytest.mark.parametrize("stage", ["original", "document"])
def test_a_kill_while_writing_leaves_the_old_state_and_no_leftovers(stage: str, tmp_path: Path) -> None:
    Workspace(tmp_path).add(parsed("A", "00"), PDF)
    code = (
        "import os, sys\n"
        "sys.path.insert(0, sys.argv[1])\n"
        "from pathlib import Path\n"
        "from test_workspace import PDF, parsed\n"
        "from normrag_core.storage import Workspace\n"
        "workspace, plain, left = Workspace(sys.argv[2]), os.fsync, [int(sys.argv[3])]\n"
        "def deadly(descriptor):\n"
        "    left[0] -= 1\n"
        "    os.kill(os.getpid(), 9) if left[0] == 0 else plain(descriptor)\n"
        "os.fsync = deadly\n"
        "workspace.add(parsed('B', '11'), PDF)\n"
    )
    # Each write flushes the file, then its folder: the first flush is within the original, the third within the document.
    number = {"original": "1", "document": "3"}[stage]
    done = subprocess.run([sys.executable, "-c", code, str(Path(__file__).parent), str(tmp_path), number], check=False)
    assert done.returncode == -9
    assert list(tmp_path.rglob(f"*{files.TEMPORARY}"))
    again = Workspace(tmp_path)
    assert [p.document.id for p in again.documents()] == ["A"]
    assert not list(tmp_path.rglob(f"*{files.TEMPORARY}"))
    assert [again.has_original(h) for h in ("00", "11")] == [True, False]


def test_a_full_disk_leaves_the_old_state_and_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = Workspace(tmp_path)
    workspace.add(parsed("A", "00"), PDF)
    workspace.save_run("r", {"old": 1})

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, "fsync", full)
    for write in (
        lambda: workspace.add(parsed("B", "11"), PDF),
        lambda: workspace.save_run("r", {"new": 1}),
    ):
        with pytest.raises(WorkspaceError, match=r"No space left on device. Remedy: free space"):
            write()
    monkeypatch.undo()
    assert [p.document.id for p in workspace.documents()] == ["A"]
    assert workspace.runs() == {"r": {"old": 1}}
    assert not list(tmp_path.rglob(f"*{files.TEMPORARY}"))


def test_a_folder_that_cannot_be_made_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(WorkspaceError, match="NORMRAG_WORKSPACE"):
        Workspace(tmp_path / "file" / "w")


def test_a_later_layout_is_refused_untouched(tmp_path: Path) -> None:
    Workspace(tmp_path).add(parsed("A", "00"), PDF)
    (tmp_path / "workspace.json").write_text(json.dumps({"layout": blobs.LAYOUT + 1}))
    with pytest.raises(WorkspaceError, match="written by a later version"):
        Workspace(tmp_path)
    assert len(list((tmp_path / "documents").iterdir())) == 1


@pytest.mark.parametrize("harm", [b"", b"\x1f\x8b broken", gzip.compress(b"[1]"), gzip.compress(b"{}"), gzip.compress(b"\xff")])
def test_a_harmed_document_is_left_out_and_can_be_parsed_anew(harm: bytes, tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    workspace.add(parsed("A", "00"), PDF)
    (path,) = (tmp_path / "documents").iterdir()
    workspace.add(parsed("B", "11"), PDF + b"B")
    path.write_bytes(harm)
    assert [p.document.id for p in workspace.documents()] == ["B"]
    assert workspace.damaged() == [PDF]
    workspace.add(parsed("A", "00"), PDF)
    assert workspace.damaged() == []


def test_two_processes_write_into_one_folder(tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "sys.path.insert(0, sys.argv[1])\n"
        "from test_workspace import PDF, parsed\n"
        "from normrag_core.storage import Workspace\n"
        "for i in range(10):\n"
        "    Workspace(sys.argv[2]).add(parsed(f'{sys.argv[3]}{i}', f'{sys.argv[3]}{i}'), PDF)\n"
    )
    running = [
        subprocess.Popen([sys.executable, "-c", code, str(Path(__file__).parent), str(tmp_path), name]) for name in ("A", "B")
    ]
    assert [p.wait() for p in running] == [0, 0]
    workspace = Workspace(tmp_path)
    assert len(workspace.documents()) == 20
    assert all(workspace.has_original(p.document) for p in workspace.documents())


def test_the_default_folder_is_what_the_environment_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NORMRAG_WORKSPACE", str(tmp_path / "mine"))
    assert Workspace.default().path == tmp_path / "mine"


@pytest.mark.parametrize("content", ["[" * 100_000, '{"name": "x", "value": 5}', '{"value": []}', "5", "{"])
def test_what_a_foreign_hand_harmed_is_left_out(tmp_path: Path, content: str) -> None:
    workspace = Workspace(tmp_path)
    workspace.save_question_set("mine", "{}")
    workspace.save_preset("own", RetrieverConfig())
    workspace.remember("tour", "dismissed")
    for kind in ("questions", "presets", "notes"):
        (file,) = (f for f in (tmp_path / kind).rglob("*") if f.is_file())
        file.write_text(content, "utf8")
    again = Workspace(tmp_path)
    assert again.question_sets() == again.presets() == {}
    assert again.recall("tour") in ("", "5", "[]")


def test_a_harmed_note_of_the_layout_costs_no_document(tmp_path: Path) -> None:
    Workspace(tmp_path).add(parsed("A", "00"))
    (tmp_path / "workspace.json").write_text('{"layout": Infinity}', "utf8")
    assert [d.id for d in Workspace(tmp_path).corpus().documents] == ["A"]
