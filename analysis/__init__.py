"""What a run recorded, turned into numbers, figures and a report.

Reads run directories only (`load`), computes on them (`metrics`), draws them (`figures`)
and puts both on one page (`report`). It imports no other room of this project.
"""
