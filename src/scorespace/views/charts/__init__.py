"""Pictures of curves, scores and estimates, as Vega-Lite specs that hold tables and never the rows behind them.

All text that comes from data is a value in a chart, never a field name or part of an expression:
Vega would read its dots, brackets and quotes.
"""
