import torch


def observe(code):
    """A tag that the net rules out."""
    tagger = code.Tagger(5, 4, 2)
    tagger.out.bias.data = torch.tensor([300.0, -300.0])
    loss = code.sentence_loss(tagger, torch.tensor([[1, 2]]), torch.tensor([[1, 1]]))
    loss.backward()
    return [loss, tagger.out.weight.grad]
