"""Turns what a run recorded into numbers, figures and a report.

Reads run directories only (`load`), computes on them (`metrics`), draws figures (`figures`), and
writes both to one page (`report`). It imports no other room of this project.
"""
