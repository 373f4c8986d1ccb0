"""Self-distillation on cached DINOv2 embeddings."""

LEARNING_RATE = 5e-5
CLIP_GRAD = 1.0
STUDENT_TEMP = 0.1
TEACHER_TEMP = 0.05
BETA = 0.6
BATCH_SIZE = 64
EPOCHS = 5
HEADS = 2
CLUSTERS = 20
EMBEDDING_DIM = 32
EMBEDDINGS = "data/embeddings/embeddings_train.pt"
