"""The heads of the network; all give logits."""
