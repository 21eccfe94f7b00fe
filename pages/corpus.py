"""Corpus."""
import streamlit as st
st.write("corpus")
