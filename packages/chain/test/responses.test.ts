import { expect } from "chai";
import { CallReverted } from "../src/errors.ts";
import { errorOf } from "../src/rpc/responses.ts";

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

describe("an error of a node", () => {
  const codeOf = (method: string, error: unknown) => errorOf("node", method, error).code;

  it("is a revert in the wording of every known node, with its data", () => {
    for (const [error, data] of REVERTS)
      for (const method of ["eth_call", "eth_estimateGas", "eth_sendRawTransaction"]) {
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
      "gas required exceeds allowance (21000)",
      "Upfront cost exceeds account balance",
      "Sender doesn't have enough funds to send tx. The max upfront cost is: 5",
    ]) {
      expect(codeOf("eth_estimateGas", { code: -32000, message }), message).to.equal("SENDER_UNFUNDED");
      expect(codeOf("eth_getBalance", { code: -32000, message }), message).to.equal("NODE_ERROR");
    }
  });

  it("never repeats the node's wording in its message", () => {
    for (const error of [{ code: -32000, message: "no such key: secret" }, { code: "secret", message: "x" }, "secret"])
      expect(errorOf("node", "eth_call", error).message).not.to.contain("secret");
  });
});
