"""KataGo's analysis protocol: lines of JSON."""
