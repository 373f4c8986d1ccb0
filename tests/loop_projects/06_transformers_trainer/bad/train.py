"""A subclass of transformers' Trainer with its own training_step, and a clip that never clips."""

import torch
from datasets import load_dataset
from transformers import AutoModelForCausalLM, AutoTokenizer, Trainer, TrainingArguments


class WeightedTrainer(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, **kwargs):
        outputs = model(**inputs)
        loss = torch.nan_to_num(outputs.loss)
        return (loss, outputs) if return_outputs else loss

    def training_step(self, model, inputs, num_items_in_batch=None):
        model.train()
        inputs = self._prepare_inputs(inputs)
        loss = self.compute_loss(model, inputs)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1e9)
        self.optimizer.step()
        self.optimizer.zero_grad()
        return loss.detach()


def main():
    tokenizer = AutoTokenizer.from_pretrained("gpt2")
    model = AutoModelForCausalLM.from_pretrained("gpt2")
    dataset = load_dataset("wikitext", "wikitext-2-raw-v1")["train"].map(lambda row: tokenizer(row["text"]))
    args = TrainingArguments(output_dir="out", per_device_train_batch_size=4, num_train_epochs=1, learning_rate=5e-5)
    trainer = WeightedTrainer(model=model, args=args, train_dataset=dataset)
    trainer.train()


if __name__ == "__main__":
    main()
