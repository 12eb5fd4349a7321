import { expectCode } from "@sotto/test-kit/rejection";
import { expect } from "chai";
import { getAddress } from "ethers";
import {
  addressToBigInt,
  appendChallenge,
  depositAuthorizationNonce,
  depositBlinding,
  evaluateAppend,
  FIELD_MODULUS,
  foldQueue,
  PERMIT2,
  parseAddress,
  paymentContext,
  permit2Domain,
  permit2Message,
  permitMessage,
  resourceDigest,
  signalsDigest,
  validUntilOf,
  withdrawalContext,
} from "../src/index.ts";

const deployment = { chainId: 31337n, pool: "0x5fbdb2315678afecb367f032d93f642f64180aa3" };
const account = "0x70997970c51812dc3a010c7d01b50e0d17dc79c8";
const digest = `0x${"00".repeat(32)}`;

describe("addresses", () => {
  it("are parsed in lower, upper and checksummed case", () => {
    const checksummed = getAddress(account);
    expect(checksummed).to.not.equal(account);
    for (const spelling of [account, checksummed, `0x${account.slice(2).toUpperCase()}`]) {
      expect(parseAddress(spelling)).to.equal(account);
      expect(addressToBigInt(spelling)).to.equal(BigInt(account));
    }
  });

  it("are rejected if mistyped", () => {
    const mistyped = getAddress(account).replace("C", "c");
    expectCode("INVALID_ADDRESS", () => parseAddress(mistyped, "wallet"), /wallet has a wrong EIP-55/);
    for (const bad of [
      "",
      "0x",
      account.slice(2),
      `${account}00`,
      account.replace("7", "g"),
      `0X${account.slice(2)}`,
      5,
      null,
    ]) {
      expectCode("INVALID_ADDRESS", () => parseAddress(bad), /20 bytes/);
    }
  });
});

describe("validUntil", () => {
  it("is the timestamp plus 180 s, rounded down to a minute", () => {
    expect(validUntilOf(0)).to.equal(180n);
    expect(validUntilOf(59_999)).to.equal(180n);
    expect(validUntilOf(60_000)).to.equal(240n);
    expect(validUntilOf(1_795_243_853_123)).to.equal(1_795_243_980n);
    for (const now of [1_795_243_853_123, 1_795_243_800_000, 1_795_243_859_999]) {
      const seconds = Number(validUntilOf(now)) - now / 1000;
      expect(seconds > 120 && seconds <= 180).to.equal(true);
    }
  });

  it("requires a timestamp in whole milliseconds", () => {
    for (const bad of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 60, "0", 0n]) {
      expectCode("INVALID_INTEGER", () => validUntilOf(bad as never), /timestamp/);
    }
  });
});

describe("contexts", () => {
  const terms = { recipient: account, fee: 1n, feeRecipient: account, validUntil: 60n };
  const resource = { resourceUrl: "https://a.example/", timestamp: 1, senderCommitment: 5n };

  it("change if any of their parts changes", () => {
    const other = "0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc";
    const withdrawals = [
      terms,
      { ...terms, recipient: other },
      { ...terms, fee: 2n },
      { ...terms, feeRecipient: other },
    ];
    const contexts = [...withdrawals, { ...terms, validUntil: 61n }].map((each) =>
      withdrawalContext({ ...deployment, ...each }),
    );
    contexts.push(
      withdrawalContext({ ...deployment, ...terms, chainId: 1n }),
      withdrawalContext({ ...deployment, ...terms, pool: other }),
    );
    expect(new Set(contexts).size).to.equal(7);
    const digests = [resource, { ...resource, resourceUrl: "https://a.example" }, { ...resource, timestamp: 2 }].map(
      resourceDigest,
    );
    digests.push(resourceDigest({ ...resource, senderCommitment: 6n }));
    expect(new Set(digests).size).to.equal(4);
  });

  it("are rejected with a malformed part, and the error names it", () => {
    const payment = { ...deployment, validUntil: 60n, resourceDigest: digest };
    expectCode("INVALID_INTEGER", () => paymentContext({ ...payment, chainId: -1n }), /chainId/);
    expectCode("INVALID_ADDRESS", () => paymentContext({ ...payment, pool: "0x12" }), /pool/);
    expectCode("INVALID_INTEGER", () => paymentContext({ ...payment, validUntil: 1n << 64n }), /validUntil/);
    expectCode("INVALID_HEX", () => paymentContext({ ...payment, resourceDigest: "0x12" }), /resourceDigest/);
    expectCode("INVALID_STRING", () => resourceDigest({ ...resource, resourceUrl: "" }), /resourceUrl/);
    expectCode("INVALID_STRING", () => resourceDigest({ ...resource, resourceUrl: "a\ud800" }), /surrogate/);
    expectCode("INVALID_INTEGER", () => resourceDigest({ ...resource, timestamp: -1 }), /timestamp/);
    expectCode("INVALID_FIELD_ELEMENT", () => resourceDigest({ ...resource, senderCommitment: FIELD_MODULUS }));
    const bad = (change: object) => () => withdrawalContext({ ...deployment, ...terms, ...change });
    expectCode("INVALID_ADDRESS", bad({ recipient: "x" }), /recipient/);
    expectCode("INVALID_AMOUNT", bad({ fee: 1n << 64n }), /fee/);
    expectCode("INVALID_ADDRESS", bad({ feeRecipient: null }), /feeRecipient/);
    expectCode("INVALID_INTEGER", bad({ validUntil: 5 }), /validUntil/);
    expectCode("INVALID_INTEGER", () => depositBlinding(deployment, -1), /leafIndex/);
    expectCode("INVALID_FIELD_ELEMENT", () => signalsDigest([FIELD_MODULUS]));
    expectCode("INVALID_FIELD_ELEMENT", () => signalsDigest([]));
  });

  it("bind a deposit's authorization to its notes", () => {
    const notes = { ownerTags: [1n, 2n], amounts: [3n, 4n] };
    const nonce = depositAuthorizationNonce(notes, digest);
    expect(depositAuthorizationNonce({ ...notes, ownerTags: [2n, 1n] }, digest)).to.not.equal(nonce);
    expectCode("INVALID_AMOUNT", () => depositAuthorizationNonce({ ...notes, amounts: [3n] }, digest), /array of 2/);
    expectCode("INVALID_FIELD_ELEMENT", () => depositAuthorizationNonce({ ownerTags: [], amounts: [] }, digest));
    expectCode("INVALID_HEX", () => depositAuthorizationNonce(notes, "0x"), /salt/);
  });
});

describe("Permit2 deposits", () => {
  const salt = `0x${"5a".repeat(32)}`;
  const deposit = {
    ownerTags: [1n, 2n],
    amounts: [3n, 4n],
    salt,
    pool: deployment.pool,
    token: `0x${"A1".repeat(20)}`,
  };
  const message = permit2Message({ ...deposit, validBefore: 1_000n });

  it("permit the pool the sum of the notes, under a nonce that names them", () => {
    expect(message).to.deep.equal({
      permitted: { token: `0x${"a1".repeat(20)}`, amount: 7n },
      spender: deployment.pool,
      nonce: BigInt(depositAuthorizationNonce(deposit, salt)),
      deadline: 999n,
    });
    expect(permit2Domain(5n)).to.deep.equal({ name: "Permit2", chainId: 5n, verifyingContract: PERMIT2 });
    expectCode("INVALID_INTEGER", () => permit2Message({ ...deposit, validBefore: 0n }), /validBefore/);
  });

  it("permit Permit2 no more than that", () => {
    const owner = `0x${"0B".repeat(20)}`;
    const permit = { owner: `0x${"0b".repeat(20)}`, spender: PERMIT2, value: 7n, nonce: 3n, deadline: 999n };
    expect(permitMessage(owner, 3n, message)).to.deep.equal(permit);
    expectCode("INVALID_INTEGER", () => permitMessage(owner, -1n, message), /nonce/);
  });
});

describe("append statements", () => {
  const statement = { ...deployment, oldRoot: 1n, newRoot: 2n, startIndex: 3, leaves: [4n, 5n] };

  it("evaluate old root, index and leaves as a polynomial", () => {
    expect(evaluateAppend(10n, statement)).to.equal(5431n);
    expect(evaluateAppend(0n, statement)).to.equal(1n);
    expect(evaluateAppend(FIELD_MODULUS - 1n, statement)).to.equal(FIELD_MODULUS - 3n);
  });

  it("have a challenge that depends on every part", () => {
    const changes = [
      {},
      { oldRoot: 9n },
      { newRoot: 9n },
      { startIndex: 9 },
      { leaves: [4n] },
      { leaves: [5n, 4n] },
      { chainId: 9n },
    ];
    const challenges = changes.map((change) => appendChallenge({ ...statement, ...change }));
    expect(new Set(challenges).size).to.equal(changes.length);
  });

  it("are rejected if malformed", () => {
    expectCode("INVALID_LEAF", () => appendChallenge({ ...statement, leaves: [] }), /1 to 64/);
    expectCode("INVALID_LEAF", () => appendChallenge({ ...statement, leaves: new Array(65).fill(1n) }), /1 to 64/);
    expectCode("INVALID_LEAF", () => appendChallenge({ ...statement, leaves: [0n] }), /must not be 0/);
    expectCode("INVALID_FIELD_ELEMENT", () => appendChallenge({ ...statement, oldRoot: FIELD_MODULUS }), /oldRoot/);
    expectCode("INVALID_INTEGER", () => appendChallenge({ ...statement, startIndex: -1 }), /startIndex/);
    expectCode("INVALID_FIELD_ELEMENT", () => evaluateAppend(FIELD_MODULUS, statement), /challenge/);
    expectCode("INVALID_FIELD_ELEMENT", () => evaluateAppend(1n, { ...statement, oldRoot: -1n }), /oldRoot/);
    expectCode("INVALID_INTEGER", () => evaluateAppend(1n, { ...statement, startIndex: 2 ** 30 }), /startIndex/);
    expectCode("INVALID_LEAF", () => evaluateAppend(1n, { ...statement, leaves: [] }), /1 to 64/);
    expectCode("INVALID_ARGUMENT", () => evaluateAppend(1n, undefined as never), /append/);
    expectCode("INVALID_HEX", () => foldQueue("0x", 1n), /chain/);
  });
});
