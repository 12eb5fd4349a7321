import { rejection } from "@sotto/test-kit/rejection";
import { expect } from "chai";
import { Account } from "../../src/relayer/account.ts";
import { SignerError, type UnsignedTransaction } from "../../src/signer/index.ts";

const ADDRESS = `0x${"11".repeat(20)}`;
const transaction = (nonce: number): UnsignedTransaction => ({
  type: 2,
  chainId: 31337n,
  nonce,
  to: ADDRESS,
  data: "0x",
  value: 0n,
  gasLimit: 21_000n,
  maxFeePerGas: 1n,
  maxPriorityFeePerGas: 1n,
});

describe("an account whose signer fails", () => {
  let now: number;
  let failure: Error | undefined;
  let checkFailure: Error | undefined;
  let nonces: number[];
  let checks: number;
  let counted: string[];
  let account: Account;
  beforeEach(() => {
    [now, failure, checkFailure, nonces, checks, counted] = [0, undefined, undefined, [], 0, []];
    account = new Account({
      address: ADDRESS,
      isDraining: false,
      signer: {
        address: ADDRESS,
        async signTransaction({ nonce }) {
          nonces.push(nonce);
          if (failure !== undefined) throw failure;
          return "0x01";
        },
        async check() {
          checks += 1;
          if (checkFailure !== undefined) throw checkFailure;
        },
      },
      metrics: {
        count: (name, _, labels) => void counted.push(`${name} ${labels?.["code"]}`),
        gauge() {},
        accounts() {},
        leads() {},
        settledAfter() {},
      },
      log: { debug() {}, info() {}, warn() {}, error() {} },
      monotonic: () => now,
    });
  });
  const fails = async (code: string, attempt: Promise<unknown>) =>
    expect((await rejection(attempt)).code).to.equal(code);

  it("pauses, longer after each failure and at most 10 s, without asking the signer", async () => {
    failure = new SignerError("SIGNER_UNAVAILABLE", "the signer does not respond");
    for (const pause of [1_000, 2_000, 4_000, 8_000, 10_000, 10_000]) {
      const asked = nonces.length;
      await fails("SIGNER_UNAVAILABLE", account.sign(transaction(1)));
      expect(nonces.length).to.equal(asked + 1);
      now += pause - 1;
      expect(account.isPaused, `before ${pause} ms`).to.equal(true);
      await fails("SIGNER_UNAVAILABLE", account.sign(transaction(1)));
      expect(await account.check()).to.equal("SIGNER_UNAVAILABLE");
      expect(nonces.length).to.equal(asked + 1);
      now += 1;
      expect(account.isPaused, `after ${pause} ms`).to.equal(false);
    }
    expect(counted).to.deep.equal(Array.from({ length: 6 }, () => "relayer_errors_total SIGNER_UNAVAILABLE"));
  });

  it("works again once the check lets it sign what it failed to sign", async () => {
    expect(await account.check()).to.equal(undefined);
    expect([checks, nonces]).to.deep.equal([1, []]);
    failure = new SignerError("SIGNER_MISMATCH", "the signer returned another nonce");
    await fails("SIGNER_MISMATCH", account.sign(transaction(7)));
    expect(account.fault).to.equal("SIGNER_MISMATCH");
    // The check does not wait for the signer. At any time, one attempt is under way.
    for (const pause of [1_000, 2_000]) {
      now += pause;
      expect(await Promise.all([account.check(), account.check()])).to.deep.equal([
        "SIGNER_MISMATCH",
        "SIGNER_MISMATCH",
      ]);
      await new Promise(setImmediate);
    }
    expect([checks, nonces]).to.deep.equal([1, [7, 7, 7]]);
    failure = undefined;
    now += 4_000;
    expect(await account.check()).to.equal("SIGNER_MISMATCH");
    await new Promise(setImmediate);
    expect(await account.check()).to.equal(undefined);
    expect([checks, nonces]).to.deep.equal([2, [7, 7, 7, 7]]);
    expect(account.fault).to.equal(undefined);
    // The pauses begin anew.
    failure = new SignerError("SIGNER_REFUSED", "the signer has no key");
    await fails("SIGNER_REFUSED", account.sign(transaction(8)));
    now += 1_000;
    expect(account.isPaused).to.equal(false);
  });

  it("shows the fault that its check finds, and does not pause for it", async () => {
    checkFailure = new SignerError("SIGNER_UNAVAILABLE", "the signer does not respond");
    expect(await account.check()).to.equal("SIGNER_UNAVAILABLE");
    expect([account.fault, account.isPaused, nonces]).to.deep.equal(["SIGNER_UNAVAILABLE", false, []]);
    checkFailure = Object.assign(new TypeError("a fault of the program"), { code: "NO_CODE_OF_A_SIGNER" });
    expect(await rejection(account.check())).to.equal(checkFailure);
    checkFailure = undefined;
    expect(await account.check()).to.equal(undefined);
    expect(account.fault).to.equal(undefined);
  });

  it("does not pause after other errors", async () => {
    failure = Object.assign(new TypeError("a fault of the program"), { code: "NO_CODE_OF_A_SIGNER" });
    await fails("NO_CODE_OF_A_SIGNER", account.sign(transaction(1)));
    expect([account.isPaused, account.fault, counted]).to.deep.equal([false, undefined, []]);
  });
});
