import type { Call } from "@sotto/chain";
import { tokenInterface } from "@sotto/chain/ethers";
import { concat, Interface, type Result, Signature, TypedDataEncoder, toBeHex, verifyTypedData } from "ethers";
import type { CallContext, LocalContract } from "./chain.ts";

export const TOKEN = `0x${"70".repeat(20)}`;

/** The call of `decimals()`, which the pool does not use. */
const DECIMALS = "0x313ce567";

const TYPES = {
  ReceiveWithAuthorization: ["from address", "to address", "value uint256", "validAfter uint256"]
    .concat(["validBefore uint256", "nonce bytes32"])
    .map((field) => ({ name: field.split(" ")[0]!, type: field.split(" ")[1]! })),
};

const keyOf = (from: string, nonce: string): string => `${from} ${nonce}`.toLowerCase();

interface State {
  balances: Map<string, bigint>;
  used: Set<string>;
}

/** The arguments of receiveWithAuthorization. */
export interface Authorization {
  from: string;
  to: string;
  value: bigint;
  validAfter: bigint;
  validBefore: bigint;
  nonce: string;
}

const EVENTS = new Interface(["event Transfer(address indexed from, address indexed to, uint256 value)"]);

/** The event of a transfer. */
export interface TransferLog {
  address: string;
  topics: string[];
  data: string;
}

/** The functions of an EIP-3009 dollar that the pool and the wallet use. */
export class LocalToken implements LocalContract {
  readonly address = TOKEN;
  readonly domain = { name: "USD Coin", version: "2", chainId: 31337n, verifyingContract: TOKEN };
  separator = TypedDataEncoder.hashDomain(this.domain);
  /** The signature that each contract account accepts. */
  readonly accounts = new Map<string, string>();
  #state: State = { balances: new Map(), used: new Set() };

  constructor(holder: string, amount: bigint) {
    this.mint(holder, amount);
  }

  mint(account: string, amount: bigint): void {
    this.#state.balances.set(account.toLowerCase(), this.balanceOf(account) + amount);
  }

  balanceOf(account: string): bigint {
    return this.#state.balances.get(account.toLowerCase()) ?? 0n;
  }

  transfer(from: string, to: string, amount: bigint): TransferLog {
    if (this.balanceOf(from) < amount) throw new Error("ERC20: transfer amount exceeds balance");
    this.#state.balances.set(from.toLowerCase(), this.balanceOf(from) - amount);
    this.mint(to, amount);
    return { address: TOKEN, ...EVENTS.encodeEventLog("Transfer", [from, to, amount]) };
  }

  receiveWithAuthorization(message: Authorization, signature: string, { sender, timestamp }: CallContext): TransferLog {
    if (sender !== message.to.toLowerCase()) throw new Error("caller must be the payee");
    const from = message.from.toLowerCase();
    const accepted = this.accounts.get(from);
    const signed = accepted === undefined ? this.#signer(message, signature) === from : accepted === signature;
    if (!signed) throw new Error("invalid signature");
    if (timestamp <= message.validAfter || timestamp >= message.validBefore) throw new Error("not valid now");
    const key = keyOf(message.from, message.nonce);
    if (this.#state.used.has(key)) throw new Error("authorization is used");
    this.#state.used.add(key);
    return this.transfer(message.from, message.to, message.value);
  }

  #signer(message: Authorization, signature: string): string {
    // ethers also accepts other encodings, which the token does not.
    if (Signature.from(signature).serialized !== signature) throw new Error("invalid signature");
    return verifyTypedData(this.domain, TYPES, message, signature).toLowerCase();
  }

  execute(call: Call): never[] {
    if (call.data.slice(0, 10) !== tokenInterface.getFunction("approve")!.selector) throw new Error("unknown call");
    // The local token checks no allowance, because no wallet code depends on it.
    return [];
  }

  /** Redeems an authorization without effect. */
  #attempt([from, to, value, validAfter, validBefore, nonce, ...parts]: Result, context: CallContext): string {
    const before = this.snapshot();
    const [v, r, s] = parts;
    const signature = parts.length === 1 ? v : concat([r, s, toBeHex(v, 1)]);
    try {
      this.receiveWithAuthorization({ from, to, value, validAfter, validBefore, nonce }, signature, context);
      return "0x";
    } finally {
      this.restore(before);
    }
  }

  view(call: Call, context: CallContext): string {
    if (call.data === DECIMALS) return `0x${"6".padStart(64, "0")}`;
    const parsed = tokenInterface.parseTransaction(call)!;
    if (parsed.name === "receiveWithAuthorization") return this.#attempt(parsed.args, context);
    const values: Record<string, unknown> = {
      balanceOf: parsed.name === "balanceOf" ? this.balanceOf(parsed.args[0]) : 0n,
      name: this.domain.name,
      version: this.domain.version,
      DOMAIN_SEPARATOR: this.separator,
      authorizationState:
        parsed.name === "authorizationState" && this.#state.used.has(keyOf(parsed.args[0], parsed.args[1])),
    };
    return tokenInterface.encodeFunctionResult(parsed.name, [values[parsed.name]]);
  }

  snapshot(): State {
    return { balances: new Map(this.#state.balances), used: new Set(this.#state.used) };
  }

  restore(snapshot: unknown): void {
    const { balances, used } = snapshot as State;
    this.#state = { balances: new Map(balances), used: new Set(used) };
  }
}
