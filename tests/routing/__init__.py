"""Labelled requests that show how well requests are routed and plans recognised."""
