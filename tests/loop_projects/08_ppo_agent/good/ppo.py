"""A PPO agent with a rollout buffer and an environment that is not installed."""

import gymnasium as gym
import torch
from torch import nn
from torch.distributions import Categorical


class Policy(nn.Module):
    def __init__(self, obs_dim, n_actions):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(obs_dim, 64), nn.Tanh())
        self.pi = nn.Linear(64, n_actions)
        self.v = nn.Linear(64, 1)

    def forward(self, obs):
        hidden = self.body(obs)
        return self.pi(hidden), self.v(hidden).squeeze(-1)


class PPO:
    def __init__(self, obs_dim, n_actions, lr=3e-4, clip=0.2, epochs=4):
        self.policy = Policy(obs_dim, n_actions)
        self.optimizer = torch.optim.Adam(self.policy.parameters(), lr=lr)
        self.clip, self.epochs = clip, epochs

    def update(self, obs, actions, old_log_probs, returns, advantages):
        for _ in range(self.epochs):
            logits, values = self.policy(obs)
            log_probs = nn.functional.log_softmax(logits, -1).gather(1, actions[:, None]).squeeze(1)
            ratio = (log_probs - old_log_probs).exp()
            clipped = ratio.clamp(1 - self.clip, 1 + self.clip)
            loss = -torch.min(ratio * advantages, clipped * advantages).mean() + 0.5 * (returns - values).pow(2).mean()
            self.optimizer.zero_grad()
            loss.backward()
            norm = nn.utils.clip_grad_norm_(self.policy.parameters(), 0.5)
            if not torch.isfinite(norm):
                self.optimizer.zero_grad()
                continue
            self.optimizer.step()


def main():
    env = gym.make("CartPole-v1")
    agent = PPO(env.observation_space.shape[0], env.action_space.n)
    for update in range(1000):
        obs, _ = env.reset()
        rows = []
        for _ in range(128):
            logits, value = agent.policy(torch.as_tensor(obs, dtype=torch.float32))
            choice = Categorical(logits=logits)
            action = choice.sample()
            obs, reward, done, _, _ = env.step(action.item())
            rows.append((torch.as_tensor(obs), action, choice.log_prob(action).detach(), reward))
            if done:
                obs, _ = env.reset()
        states, actions, log_probs = (torch.stack(part) for part in list(zip(*rows))[:3])
        returns = torch.tensor([row[3] for row in rows])
        agent.update(states, actions, log_probs, returns, returns - returns.mean())


if __name__ == "__main__":
    main()
