import { amountFields } from "@sotto/cli-kit/home";
import { z } from "zod";

export interface Token {
  readonly decimals: number;
  readonly symbol: string;
}

export const AMOUNT = z.object({
  amount: z.string().describe("base units"),
  decimal: z.string().describe("whole tokens"),
  token: z.string(),
});
export type Amount = z.infer<typeof AMOUNT>;

export const amountOf = (amount: bigint, token: Token): Amount => ({
  ...amountFields(amount, token),
  token: token.symbol,
});

export const inWords = ({ decimal, token }: Amount): string => `${decimal} ${token}`;
