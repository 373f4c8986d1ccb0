"""A Trainer that goes on from its last checkpoint."""

from transformers import AutoModelForSequenceClassification, Trainer, TrainingArguments


def main(dataset):
    arguments = TrainingArguments(
        output_dir="out", learning_rate=2e-5, max_grad_norm=1.0, warmup_ratio=0.1, bf16=True, save_steps=500
    )
    model = AutoModelForSequenceClassification.from_pretrained("distilbert-base-uncased")
    trainer = Trainer(model=model, args=arguments, train_dataset=dataset)
    trainer.train(resume_from_checkpoint=True)
