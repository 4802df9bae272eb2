"""Annotation projects, pools of candidates, adjudications and disputes."""
