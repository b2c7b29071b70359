"""The two heads of the network; both give logits."""
