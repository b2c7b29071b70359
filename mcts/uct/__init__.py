"""Without a network: UCT over playouts that draw their moves by learnt patterns (Aya, MoGo, Crazy Stone)."""
