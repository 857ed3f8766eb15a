"""Models in other libraries; each module needs its library."""
