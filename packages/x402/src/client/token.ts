import type { Wallet } from "@sotto/client";
import { Interface } from "ethers";
import { X402SchemeError } from "../errors.ts";

const token = new Interface(["function decimals() view returns (uint8)", "function symbol() view returns (string)"]);
const LONGEST_SYMBOL = 32;

/** @throws X402SchemeError X402_OPTION_INVALID where the pool's token does not say; WalletError of the chain */
export async function readToken({ chain, pool }: Wallet): Promise<{ decimals: number; symbol: string }> {
  const ask = async (name: string) => {
    const answer = await chain.call({ to: pool.token, data: token.encodeFunctionData(name) });
    try {
      return token.decodeFunctionResult(name, answer)[0] as unknown;
    } catch (cause) {
      throw new X402SchemeError("X402_OPTION_INVALID", `the pool's token does not say its ${name}`, {}, { cause });
    }
  };
  const [decimals, symbol] = [Number(await ask("decimals")), String(await ask("symbol"))];
  return { decimals, symbol: symbol.slice(0, LONGEST_SYMBOL) };
}
