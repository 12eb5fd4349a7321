import * as oracle from "../support/oracle.ts";

const chainId = 84532n;
const pool = "0x5fbdb2315678afecb367f032d93f642f64180aa3";
const wallet = "0x70997970c51812dc3a010c7d01b50e0d17dc79c8";
const feeRecipient = "0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc";
const bindings = ["uint256", "address"];

/** A payment spends one deposited note; a withdrawal spends the change and another note; an append adds the new notes. */
export function payment(sample: (label: string, modulus: bigint) => bigint) {
  const keysOf = (byte: (i: number) => number) =>
    oracle.keys(
      Uint8Array.from({ length: 32 }, (_, i) => byte(i)),
      { chainId, pool },
    );
  const payer = keysOf((i) => i);
  const merchant = keysOf((i) => 255 - i);
  const recipientTag = merchant.ownerTags[0]!.value;
  const spendingKey = payer.spendingKeys[1]!.value;
  const spentTag = payer.ownerTags[1]!.value;
  const changeTag = payer.ownerTags[0]!.value;

  const leafIndex = 11;
  const noteAmount = 5_000_000n;
  const inputBlinding = oracle.keccakField([...bindings, "uint256"], [chainId, pool, leafIndex]);
  const spent = oracle.poseidon([noteAmount, spentTag, inputBlinding], 0n);
  const leaves = Array.from({ length: 20 }, (_, i) => (i === leafIndex ? spent : sample(`leaf ${i}`, oracle.P)));
  const root = oracle.treeRoot(leaves);

  const amount = 1_250_000n;
  const scalar = sample("encryption", 1n << 249n);
  const exponent = 2n * scalar + (1n << 249n) + 1n;
  const R = oracle.multiply(oracle.base8, exponent);
  const S = oracle.multiply(merchant.encryptionKey, exponent);
  const C = oracle.add(S, oracle.multiply(oracle.base8, amount));
  const [blinding, pad] = oracle.poseidonEx([S.x, R.x], 2, 3n) as [bigint, bigint];
  const nullifier = oracle.poseidon([spendingKey, spent, BigInt(leafIndex)], 2n);
  const [changeBlinding, changePad] = oracle.poseidonEx([payer.changeKey, nullifier, R.x], 2, 6n) as [bigint, bigint];
  const changeAmount = noteAmount - amount;

  const senderNonce = oracle.senderNonce(payer.nonceKey, nullifier, R.x);
  const senderCommitment = oracle.poseidon([spentTag, senderNonce], 4n);
  const resourceUrl = "https://data.example/reports/2026?plan=gr\u00f6\u00dfe";
  const timestamp = 1_795_243_853_123;
  const validUntil = 1_795_243_980n; // 1,795,244,033 s, rounded down to a minute
  const resourceDigest = oracle.keccak(
    ["bytes32", "uint256", "uint256"],
    [oracle.keccakText(resourceUrl), timestamp, senderCommitment],
  );
  const context = oracle.keccakField([...bindings, "uint64", "bytes32"], [chainId, pool, validUntil, resourceDigest]);
  const recipientNote = oracle.poseidon([amount, recipientTag, blinding], 0n);
  const changeNote = oracle.poseidon([changeAmount, changeTag, changeBlinding], 0n);
  const recipientSignal = oracle.poseidon(
    [BigInt(wallet), merchant.encryptionKey.x, recipientTag, senderCommitment],
    5n,
  );
  const publicSignals = [
    recipientSignal,
    context,
    R.x,
    (C.x + senderCommitment) % oracle.P,
    (pad + amount) % oracle.P,
    root,
    nullifier,
    recipientNote,
    changeNote,
    (changePad + changeAmount) % oracle.P,
  ];
  const range = [R.x, C.x, merchant.encryptionKey.x, recipientTag, amount, (amount * 11n) / 10n];

  const queued = [recipientNote, changeNote];
  const newRoot = oracle.treeRoot([...leaves, ...queued]);
  const challenge = oracle.keccakField(
    [...bindings, "uint256", "uint256", "uint256", "uint256", "uint256[]"],
    [chainId, pool, root, newRoot, leaves.length, queued.length, queued],
  );
  const coefficients = [root, BigInt(leaves.length), ...queued];
  const evaluation = coefficients.reduce((sum, coefficient, i) => sum + coefficient * challenge ** BigInt(i), 0n);
  const append = [newRoot, challenge, evaluation % oracle.P];

  const terms = { recipient: wallet, fee: 10_000n, feeRecipient, validUntil: 1_795_250_000n };
  const withdrawalContext = oracle.keccakField(
    [...bindings, "address", "uint256", "address", "uint64"],
    [chainId, pool, terms.recipient, terms.fee, terms.feeRecipient, terms.validUntil],
  );
  const changeIndex = leaves.length + 1;
  const changeNullifier = oracle.poseidon([payer.spendingKeys[0]!.value, changeNote, BigInt(changeIndex)], 2n);
  const withdrawn = 2_000_000n;
  const left = changeAmount - withdrawn;
  const unused = new Array<bigint>(7).fill(0n);
  const padContext = oracle.keccakField(new Array<string>(10).fill("uint256"), [
    withdrawalContext,
    withdrawn,
    changeNullifier,
    ...unused,
  ]);
  const [outBlinding, outPad] = oracle.poseidonEx([payer.changeKey, changeNullifier, padContext], 2, 6n);
  const output = oracle.poseidon([left, changeTag, outBlinding!], 0n);
  const outHint = (outPad! + left) % oracle.P;
  const withdrawal = [withdrawalContext, withdrawn, newRoot, changeNullifier, ...unused, output, outHint];

  const statement = withdrawal.slice(1, 12);
  const statementHash = oracle.poseidon(statement, 7n);
  const withdrawalDigest = oracle.keccak(["uint256[13]"], [withdrawal]);
  const withdrawalChallenge = oracle.keccakField(["uint256", "bytes32"], [statementHash, withdrawalDigest]);
  const withdrawalEvaluation = statement.reduce((sum, word, i) => sum + word * withdrawalChallenge ** BigInt(i), 0n);

  // The set of a curator that accepts every third leaf; the spent one is among them.
  const mask = leaves.map((leaf, i) => (i % 3 === leafIndex % 3 ? leaf : 0n));
  const origin = [oracle.treeRoot(mask), nullifier];

  const tags = [spentTag, changeTag];
  const salt = `0x${"5a".repeat(32)}`;
  const authorizationNonce = oracle.keccak(["uint256[]", "uint64[]", "bytes32"], [tags, [1n, 2n], salt]);
  return {
    deployment: { chainId, pool },
    leaves,
    spent: { leafIndex, amount: noteAmount, blinding: inputBlinding, commitment: spent },
    payment: {
      wallet,
      amount,
      scalar,
      resourceUrl,
      timestamp,
      senderNonce,
      senderCommitment,
      validUntil,
      resourceDigest,
    },
    encryptedAmount: oracle.pack(R) + oracle.pack(C).slice(2),
    shared: S,
    publicSignals,
    digest: oracle.keccak(["uint256[10]"], [publicSignals]),
    range,
    append,
    withdrawal: {
      terms,
      amount: withdrawn,
      signals: withdrawal,
      publicSignals: [statementHash, withdrawalChallenge, withdrawalEvaluation % oracle.P],
      digest: withdrawalDigest,
    },
    mask,
    origin,
    authorization: { ownerTags: tags, amounts: [1n, 2n], salt, nonce: authorizationNonce },
    queueChain: oracle.keccak(["bytes32", "uint256"], [`0x${"00".repeat(32)}`, recipientNote]),
  };
}
