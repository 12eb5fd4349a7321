// Checks before anything is sent, and translates Hardhat's errors: each gets a code, and none contains the node's URL,
// which may include a provider's key.
import type {} from "@nomicfoundation/hardhat-ethers";
import { CommandError } from "@sotto/command/command";
import {
  type Address,
  allowsDevelopment,
  formatDecimalAmount,
  isPublicAccount,
  MAX_AMOUNT,
  parseAddress,
  SottoError,
} from "@sotto/protocol";
import { formatEther, Interface, ZeroAddress } from "ethers";
import type { NetworkConnection } from "hardhat/types/network";
import type { Ask } from "./chain/ask.ts";
import { hasPermit2, tokenSupport } from "./chain/authorizations.ts";
import { describeLack, lacksOf } from "./chain/properties.ts";

/** Hardhat's numbers of errors about SOTTO_DEPLOY_RPC_URL, SOTTO_DEPLOYER_KEY and their keystore. */
const SETTING_ERRORS = [7, 28, 30, 50_000];
/** Hardhat's number for a missing setting. */
const MISSING_SETTING = 7;
/** Hardhat's number for a deployment that was started on another chain. */
const OTHER_CHAIN = 10_900;

/** Ignition's reasons for rejecting a deployment that was started with other parameters, without repetitions. */
function differences(text: string): string | undefined {
  if (!text.includes("reconciliation errors")) return undefined;
  return [...new Set([...text.matchAll(/^\s*\* [^:]+: (.*)$/gm)].map(([, reason]) => reason!))].join("; ");
}

/** Gives Hardhat's errors a code; other errors pass unchanged. */
export function explain(error: unknown): unknown {
  if (error instanceof CommandError || error instanceof SottoError) return error;
  const { number, message, messageArguments } = Object(error) as {
    number?: number;
    message?: unknown;
    messageArguments?: { name?: string };
  };
  const text = String(message).replace(/^HHE\d+: /, "");
  if (number === MISSING_SETTING) {
    const name = messageArguments?.name;
    const advice = `set it with npm run hardhat -- keystore set ${name}, or in the environment`;
    return new CommandError("SETTING_INVALID", `${name} is not set: ${advice}`, { cause: error });
  }
  if (SETTING_ERRORS.includes(number ?? 0)) return new CommandError("SETTING_INVALID", text, { cause: error });
  const otherwise = number === OTHER_CHAIN ? text : differences(text);
  const what =
    otherwise === undefined
      ? `${text.replace(/\.$/, "")}; run the same command again to resume`
      : `the deployment was started with other parameters: ${otherwise}; use the same ones, or choose another --network`;
  return new CommandError("DEPLOYMENT_FAILED", what, { cause: error });
}

/** @param node the node's name in errors @returns the chain id @throws CommandError NODE_UNREACHABLE, SETTING_INVALID */
export async function chainIdOf({ provider }: NetworkConnection, node: string): Promise<number> {
  try {
    const answer = await provider.request({ method: "eth_chainId" });
    if (typeof answer === "string" && /^0x[0-9a-f]+$/i.test(answer)) return Number(answer);
  } catch (error) {
    if (SETTING_ERRORS.includes((error as { number?: number }).number ?? 0)) throw error;
  }
  throw new CommandError("NODE_UNREACHABLE", `${node} does not answer JSON-RPC requests; check its URL`);
}

/**
 * Tests what a pool needs of the chain. The verifiers' constructors check the precompiles too, but only after gas was spent.
 * @returns warnings about properties that are optional
 * @throws CommandError CHAIN_UNSUITABLE
 */
export async function assertSuitable({ provider }: NetworkConnection): Promise<string[]> {
  const lacks = await lacksOf((method, params) => provider.request({ method, params }));
  const fatal = lacks.filter(({ property }) => !property.isOptional);
  if (fatal.length > 0)
    throw new CommandError("CHAIN_UNSUITABLE", `no pool can work on this chain: ${fatal.map(describeLack).join("; ")}`);
  return lacks.map(describeLack);
}

export interface Deployer {
  readonly account: Address;
  /** Ether, decimal. */
  readonly balance: string;
}

/** @throws CommandError SETTING_INVALID, NO_FUNDS */
export async function deployerOf({ ethers, provider }: NetworkConnection, chainId: number): Promise<Deployer> {
  const [signer] = await ethers.getSigners().catch((cause: unknown) => {
    throw new CommandError("SETTING_INVALID", "SOTTO_DEPLOYER_KEY is not a private key: expected 32 bytes as hex", {
      cause,
    });
  });
  if (signer === undefined) throw new CommandError("NO_FUNDS", "the node has no account to deploy with");
  const account = parseAddress(signer.address);
  if (isPublicAccount(account) && !allowsDevelopment(process.env, chainId))
    throw new CommandError(
      "SETTING_INVALID",
      `${account} is a public account of Hardhat and Anvil: anyone can take its ETH and send transactions from it; ` +
        "set SOTTO_DEPLOYER_KEY to a key of your own",
    );
  const balance = BigInt(String(await provider.request({ method: "eth_getBalance", params: [account, "latest"] })));
  if (balance === 0n)
    throw new CommandError("NO_FUNDS", `${account} has no ETH on this chain; send it some for the gas`);
  return { account, balance: formatEther(balance) };
}

const TOKEN = new Interface([
  "function decimals() view returns (uint8)",
  "function balanceOf(address) view returns (uint256)",
]);

/** The CLI and the protocol format amounts with at most so many decimals. */
const MAX_DECIMALS = 36n;

/**
 * Checks that the address is an ERC-20 token.
 * @returns the largest amount, and a warning if the token lacks EIP-3009, or its form for contract accounts
 * @throws CommandError TOKEN_INVALID
 */
export async function assertToken(
  { provider }: NetworkConnection,
  token: Address,
  chainId: number,
): Promise<readonly string[]> {
  const read = async (name: string, parameters: readonly unknown[]): Promise<bigint | undefined> => {
    const call = { to: token, data: TOKEN.encodeFunctionData(name, parameters) };
    const answer = await provider.request({ method: "eth_call", params: [call, "latest"] }).catch(() => "0x");
    return /^0x[0-9a-f]{64}$/i.test(String(answer)) ? BigInt(String(answer)) : undefined;
  };
  const decimals = await read("decimals", []);
  if (decimals === undefined || (await read("balanceOf", [ZeroAddress])) === undefined)
    throw new CommandError("TOKEN_INVALID", `there is no ERC-20 token at ${token} on this chain`);
  if (decimals > MAX_DECIMALS)
    throw new CommandError("TOKEN_INVALID", `${token} has ${decimals} decimals, expected at most ${MAX_DECIMALS}`);
  const most = formatDecimalAmount(MAX_AMOUNT, Number(decimals));
  const amounts = `${token} has ${decimals} decimals: a deposit, a payment or a withdrawal is at most ${most} tokens`;
  const ask: Ask = (method, params) => provider.request({ method, params });
  const { problem, accounts } = await tokenSupport(ask, token, chainId);
  if (problem !== undefined) {
    const instead = (await hasPermit2(ask))
      ? "deposits go through Permit2, which each account approves by a permit, or once itself"
      : "deposits into this pool will need gas";
    return [amounts, `token ${token} does not support EIP-3009: ${problem}; ${instead}`];
  }
  if (accounts) return [amounts];
  return [
    amounts,
    `token ${token} takes no signatures of contract accounts, so their deposits into this pool will need gas`,
  ];
}
