"""placeholder"""
def page(d): return ""
