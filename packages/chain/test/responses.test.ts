import { expect } from "chai";
import { CallReverted, RpcErrorResponse } from "../src/errors.ts";
import {
  errorOf,
  isKnownTransaction,
  isRefusedTransaction,
  isUnsupportedMethod,
  lowestTip,
} from "../src/rpc/responses.ts";

/** Error(string) with an empty text. */
const DATA = `0x08c379a0${"00".repeat(31)}20${"00".repeat(32)}`;

/** Reverts as nodes report them, with the expected revert data. */
const REVERTS: [error: unknown, data: string][] = [
  [{ code: 3, message: "execution reverted: no", data: DATA }, DATA],
  [{ code: 3, message: "execution reverted", data: "0x" }, "0x"],
  [{ code: 3, message: "anything" }, "0x"],
  [{ code: -32000, message: "execution reverted" }, "0x"],
  [{ code: -32000, message: "Execution reverted", data: "0x09BDE339" }, "0x09bde339"],
  [{ code: -32603, message: "Internal JSON-RPC error.", data: DATA }, DATA],
  [
    {
      code: -32603,
      message: "Error: VM Exception while processing transaction: reverted with custom error 'A()'",
      data: { message: "..", data: "0x09bde339" },
    },
    "0x09bde339",
  ],
  [{ code: -32603, message: "Error: Transaction reverted without a reason string" }, "0x"],
  [{ code: -32000, message: "VM Exception while processing transaction: revert", data: { hash: "0x11" } }, "0x"],
  [{ code: -32015, message: "VM execution error.", data: `Reverted ${DATA}` }, DATA],
  [{ code: -32015, message: "VM execution error.", data: "Bad instruction fe" }, "0x"],
  [{ code: -32000, message: "out of gas" }, "0x"],
  [{ code: -32000, message: "invalid opcode: INVALID" }, "0x"],
  [{ code: -32003, message: "EVM error: InvalidFEOpcode" }, "0x"],
  [{ code: -32000, message: "err: intrinsic gas too low: have 1, want 53000 (supplied gas 1)" }, "0x"],
  [{ code: -32000, message: "stack underflow (0 <=> 1)" }, "0x"],
  [{ code: -32000, message: "invalid jump destination" }, "0x"],
  // The estimate names no price, so the sender's balance is not the reason: no gas limit that the node tries is enough.
  [{ code: -32000, message: "gas required exceeds allowance (16777216)" }, "0x"],
  [{ code: -32003, message: "out of gas: gas required exceeds: 10000000" }, "0x"],
  [{ code: -32000, message: "max initcode size exceeded: code size 50000 limit 49152" }, "0x"],
];

/** Internal errors of nodes that look like reverts. */
const FAULTS: unknown[] = [
  { code: -32000, message: "state reverted to block 7, try again" },
  { code: -32000, message: "reverting to the last snapshot" },
  { code: -32000, message: "header not found", data: `0x${"11".repeat(32)}` },
  { code: -32000, message: "internal error", data: "0x" },
  { code: -32005, message: "your plan has run out of gas credits" },
  { code: -32000, message: "worker stack overflow" },
  { code: -32000, message: "insufficient funds: top up your account" },
  { code: -32000, message: "Unauthorized" },
  { code: -32005, message: "daily request count exceeded, request rate limited" },
  { code: -32603, message: "internal error" },
  { code: -32000, message: "state is pruned" },
  { code: "3", message: 3 },
  "Unauthorized",
  true,
  {},
];

/** How nodes refuse a transaction, and whether they have it already. */
const SENT: readonly [message: string, isKnown: boolean][] = [
  ...[
    "already known",
    "ALREADY_EXISTS: already known",
    "known transaction: 0x7f65",
    "Known transaction",
    "Transaction with the same hash was already imported.",
    "AlreadyKnown",
    "call failed: AlreadyKnown",
    "existing tx with same hash",
    "existing txn with same hash",
    "transaction already in mempool",
    "tx already exists in cache",
    "known transaction. transaction with hash 0x6013…3053 is already in the system",
    "failed to forward tx to sequencer, please try again. Error message: 'already known'",
  ].map((message): [string, boolean] => [message, true]),
  ...[
    "nonce too low: address 0x11, tx: 8089 state: 8090",
    "Nonce too low",
    "nonce too low. allowed nonce range: 427 - 447, actual: 426",
    "Transaction nonce is too low. Try incrementing the nonce.",
    "OldNonce, Current nonce: 22, nonce of rejected tx: 17",
    "NonceGap, Future nonce. Expected nonce: 10",
    "OwnNonceAlreadyUsed",
    "nonce too high",
    "gapped-nonce tx from delegated accounts",
    "replacement transaction underpriced",
    "could not replace existing tx",
    "ReplacementNotAllowed",
    "there is another tx which has the same nonce in the tx pool",
    "transaction underpriced: gas tip cap 1, minimum needed 2",
    "transaction gas price below minimum: gas tip cap 1500000000, minimum needed 25000000000",
    "Gas price below configured minimum gas price",
    "Gas price '830000000000' is below configured minimum gas price '950000000000'",
    "Transaction gas price 100wei is too low.",
    "gas price too low",
    "gas price less than block base fee",
    "fee too low",
    "FeeTooLow, EffectivePriorityFeePerGas too low 10 < 20, BaseFee: 30",
    "FeeTooLowToCompete",
    "max fee per gas less than block base fee: address 0x11, maxFeePerGas: 20072000 baseFee: 20110000",
    "Max priority fee per gas exceeds max fee per gas",
    "insufficient funds for gas * price + value: address 0x11 have 0 want 5",
    "InsufficientFunds, Account balance: 474, cumulative cost: 220",
    "Upfront cost exceeds account balance",
    "Insufficient balance for transaction. Balance=100.25, Cost=200.50",
    "not enough funds for gas",
    "transaction would cause overdraft",
    "Sender doesn't have enough funds to send tx. The max upfront cost is: 5",
    "intrinsic gas too low",
    "IntrinsicGas",
    "GasLimitExceeded",
    "transaction gas limit too high (cap: 16777216, tx: 20000000)",
    "exceeds block gas limit",
    "Transaction gas limit exceeds block gas limit",
    "tx fee (1.10 ether) exceeds the configured cap (1.00 ether)",
    "in-flight transaction limit reached for delegated accounts",
    "oversized data",
    "RLPTooLong",
    "invalid sender",
    "SenderIsContract",
    "sender not an eoa",
    "Invalid signature",
    "Wrong chainId: invalid chain id for signer",
    "transaction type not supported",
    "unsupported transaction type",
    "unknown transaction type",
  ].map((message): [string, boolean] => [message, false]),
];

/** Errors of nodes that would not recur on another node. */
const INTERNAL: readonly string[] = [
  "header not found",
  "Unauthorized",
  "daily request count exceeded, request rate limited",
  "internal error",
  "state is pruned",
  "unknown block",
];

/** Errors of providers that do not offer a method. */
const UNSUPPORTED: readonly [code: number, message: string][] = [
  [-32601, "the method eth_feeHistory does not exist/is not available"],
  [-32004, "This method is not supported"],
  [-32600, "Unsupported method: eth_maxPriorityFeePerGas. See available methods at https://docs.example.com/"],
  [-32000, "the method is disabled"],
  [-32000, "method eth_feeHistory not supported"],
  [-32052, "method is not whitelisted"],
];

describe("an error of a node", () => {
  const codeOf = (method: string, error: unknown) => errorOf("node", method, error).code;

  it("is a revert in the wording of every known node, with its data", () => {
    for (const [error, data] of REVERTS)
      for (const method of ["eth_call", "eth_estimateGas", "eth_sendRawTransaction"]) {
        // A node refuses to send such a transaction.
        if (method === "eth_sendRawTransaction" && /intrinsic gas/.test(String(Object(error).message))) continue;
        const found = errorOf("node", method, error);
        expect(found, JSON.stringify(error)).to.be.instanceOf(CallReverted);
        expect(found, JSON.stringify(error)).to.include({ code: "CALL_REVERTED", data });
      }
  });

  it("is not a revert if nothing was executed", () => {
    for (const [error] of REVERTS)
      for (const method of ["eth_getLogs", "eth_getBalance", "eth_getTransactionReceipt"])
        expect(codeOf(method, error)).to.equal("NODE_ERROR");
  });

  it("is the node's fault in any other wording", () => {
    for (const error of FAULTS) expect(codeOf("eth_call", error), JSON.stringify(error)).to.equal("NODE_ERROR");
  });

  it("is reported as a lack of funds for calls and estimates only", () => {
    for (const message of [
      "insufficient funds for gas * price + value: address 0x11 have 0 want 5",
      "err: insufficient funds for transfer (supplied gas 21000)",
      "insufficient balance for transfer",
      "InsufficientSenderBalance",
      "not enough funds for gas",
      "Upfront cost exceeds account balance",
      "Sender doesn't have enough funds to send tx. The max upfront cost is: 5",
    ]) {
      expect(codeOf("eth_estimateGas", { code: -32000, message }), message).to.equal("SENDER_UNFUNDED");
      expect(codeOf("eth_getBalance", { code: -32000, message }), message).to.equal("NODE_ERROR");
    }
  });

  it("tells a transaction that a node has from one that it refuses, in the wording of every known node", () => {
    for (const [message, isKnown] of SENT) {
      expect(isKnownTransaction(message), message).to.equal(isKnown);
      if (!isKnown) expect(isRefusedTransaction(message), message).to.equal(true);
    }
    for (const message of INTERNAL) {
      expect(isKnownTransaction(message), message).to.equal(false);
      expect(isRefusedTransaction(message), message).to.equal(false);
    }
  });

  it("is a refusal of a transaction even with the code of a revert", () => {
    for (const [message, isKnown] of SENT)
      if (!isKnown)
        expect(codeOf("eth_sendRawTransaction", { code: 3, message, data: "0x" }), message).to.equal("NODE_ERROR");
  });

  it("names the lowest priority fee that the node accepts", () => {
    expect(
      lowestTip("transaction gas price below minimum: gas tip cap 1500000000, minimum needed 25000000000"),
    ).to.equal(25_000_000_000n);
    for (const text of ["transaction underpriced", `gas tip cap 1, minimum needed ${"9".repeat(31)}`, ""])
      expect(lowestTip(text), text).to.equal(undefined);
  });

  it("is no fault if the node does not offer the method", () => {
    const errorFor = (code: number, text: string) => new RpcErrorResponse("node", "eth_feeHistory", code, text);
    for (const [code, text] of UNSUPPORTED) expect(isUnsupportedMethod(errorFor(code, text)), text).to.equal(true);
    for (const text of ["internal error", "method handler crashed", "rate limit exceeded"])
      expect(isUnsupportedMethod(errorFor(-32000, text)), text).to.equal(false);
  });

  it("never repeats the node's wording in its message", () => {
    for (const error of [{ code: -32000, message: "no such key: secret" }, { code: "secret", message: "x" }, "secret"])
      expect(errorOf("node", "eth_call", error).message).not.to.contain("secret");
  });
});
