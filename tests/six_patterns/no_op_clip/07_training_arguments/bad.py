"""Fine-tune a language model with the Hugging Face trainer."""

from transformers import AutoModelForCausalLM, AutoTokenizer, Trainer, TrainingArguments


def main(name: str, train_set, output: str = "out") -> None:
    model = AutoModelForCausalLM.from_pretrained(name)
    arguments = TrainingArguments(
        output_dir=output,
        per_device_train_batch_size=8,
        learning_rate=2e-5,
        max_grad_norm=1e6,  # expect: NAN401|NAN603
        bf16=True,
        logging_steps=50,
    )
    trainer = Trainer(
        model=model,
        args=arguments,
        train_dataset=train_set,
        processing_class=AutoTokenizer.from_pretrained(name),
    )
    trainer.train()
    trainer.save_model(output)
