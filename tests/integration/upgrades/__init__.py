"""Upgrades: kept runs of older versions go on under the present code, and processes that do not fit say so."""
