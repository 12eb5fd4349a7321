import { buildInstructions, type InstructionsOptions } from "../../src/index.ts";
import { binding, sign } from "./binding.ts";

export const signature = await sign(binding);
export const options: InstructionsOptions = {
  binding,
  signature,
  price: 100_000n,
  asset: "0x70997970c51812dc3a010c7d01b50e0d17dc79c8",
  decimals: 6,
  serviceUrl: "https://pay.example/zk",
  resource: "https://data.example/report?month=5",
  now: 1_800_000_000_123,
};
export const instructions = buildInstructions(options);
