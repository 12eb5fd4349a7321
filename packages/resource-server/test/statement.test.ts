// Each cheap check alone: the rest of the header is valid.
import {
  encryptAmount,
  MAX_CLOCK_SKEW_MS,
  MAX_PAYMENT_AGE_MS,
  PAYMENT_SIGNAL,
  type PaymentTokenClaims,
  type ProofHeader,
  RANGE_SIGNAL,
  randomScalar,
  resourceHash,
  signalsDigest,
} from "@sotto/protocol";
import { expect } from "chai";
import {
  assertFresh,
  assertWallet,
  decryptAmount,
  type HeaderStatement,
  parseHeaderStatement,
} from "../src/checks/statement.ts";
import { CheckFailed } from "../src/outcome.ts";
import {
  createRecipient,
  DEPLOYMENT,
  PRICE,
  paymentTo,
  RESOURCE,
  type TestPayment,
  termsOf,
} from "./support/payment.ts";

const recipient = createRecipient();
const terms = termsOf(recipient);
const other = createRecipient(`0x${"44".repeat(20)}`);

/** The cheap check that a payment fails; undefined if it passes all of them. */
function failure({ header, claims }: TestPayment, now = header.timestamp): string | undefined {
  try {
    assertWallet(header, recipient.wallet);
    assertFresh(header, now);
    parseHeaderStatement(header, claims, terms);
    return undefined;
  } catch (error) {
    if (error instanceof CheckFailed) return error.failure;
    throw error;
  }
}

const statement = ({ header, claims }: TestPayment): HeaderStatement => parseHeaderStatement(header, claims, terms);

/** The payment with a changed header and its original token. */
function withHeader(payment: TestPayment, changes: Partial<ProofHeader>): TestPayment {
  return { ...payment, header: { ...payment.header, ...changes } };
}

describe("a header's statement", () => {
  it("passes if valid, with and without the rest of its bundle", () => {
    const payment = paymentTo(recipient);
    expect(failure(payment)).to.equal(undefined);
    const { bundle, signals, range, digest } = statement(payment);
    const { senderCommitment } = payment;
    const full = { senderCommitment, amountPublicSignals: bundle.amountPublicSignals, resourceUrl: RESOURCE };
    expect(failure(withHeader(payment, full))).to.equal(undefined);
    expect(String(signals.nullifier)).to.equal(payment.claims.nullifier);
    expect(digest).to.equal(signalsDigest(payment.header.publicSignals));
    expect(range).to.include({ recipientKey: recipient.keyX, recipientTag: recipient.ownerTag });
    expect(range).to.include({ lowerBound: PRICE, upperBound: (PRICE * 11n) / 10n });
  });

  it("names this recipient's wallet", () => {
    expect(failure(withHeader(paymentTo(recipient), { recipientPublicKey: other.wallet }))).to.equal("RECIPIENT");
  });

  it("is at most five minutes old, to the millisecond, and at most 30 s ahead", () => {
    const payment = paymentTo(recipient);
    const { timestamp } = payment.header;
    expect(failure(payment, timestamp + MAX_PAYMENT_AGE_MS)).to.equal(undefined);
    expect(failure(payment, timestamp + MAX_PAYMENT_AGE_MS + 1)).to.equal("TOO_OLD");
    expect(failure(payment, timestamp - MAX_CLOCK_SKEW_MS)).to.equal(undefined);
    expect(failure(payment, timestamp - MAX_CLOCK_SKEW_MS - 1)).to.equal("FROM_THE_FUTURE");
    // A header from the future passes later, and Retry-After says when.
    for (const early of [1, 1000, 1001, 90_000]) {
      const at = timestamp - MAX_CLOCK_SKEW_MS - early;
      expect(() => assertFresh(payment.header, at))
        .to.throw()
        .with.property("retryAfter", Math.ceil(early / 1000));
    }
    expect(() => assertFresh(payment.header, timestamp + MAX_PAYMENT_AGE_MS + 1))
      .to.throw()
      .with.property("retryAfter", undefined);
    expect([MAX_PAYMENT_AGE_MS, MAX_CLOCK_SKEW_MS]).to.deep.equal([300_000, 30_000]);
  });

  it("matches the token, claim by claim", () => {
    const payment = paymentTo(recipient);
    const wrong: Partial<PaymentTokenClaims> = {
      digest: `0x${"55".repeat(32)}`,
      chainId: "1",
      pool: `0x${"66".repeat(20)}`,
      recipient: other.wallet,
      recipientKey: String(other.keyX),
      recipientTag: String(other.ownerTag),
      resourceHash: resourceHash(`${RESOURCE}&more`),
      nullifier: "1",
      timestamp: payment.claims.timestamp + 1,
      validUntil: payment.claims.validUntil + 60,
    };
    for (const [name, value] of Object.entries(wrong))
      expect(failure({ ...payment, claims: { ...payment.claims, [name]: value } }), name).to.equal("TOKEN_CLAIMS");
    // The sender commitment is only in the token; the signals that it opens prove it.
    const sender = { ...payment, claims: { ...payment.claims, senderCommitment: "1" } };
    expect(failure(sender)).to.equal("RECIPIENT_SIGNAL");
    expect(Object.keys(wrong).length + 2).to.equal(Object.keys(payment.claims).length);
  });

  it("opens to this recipient's wallet, key and tag", () => {
    const { encryptionKey, keyX, ownerTag } = other;
    const strangers = [
      { ...recipient, encryptionKey, keyX },
      { ...recipient, ownerTag },
      { ...recipient, wallet: other.wallet },
    ];
    for (const stranger of strangers) {
      const payment = paymentTo(stranger);
      // A deceived or dishonest service issues a token for this recipient.
      const { wallet } = recipient;
      const recipientKey = String(recipient.keyX);
      const claims = { ...payment.claims, recipient: wallet, recipientKey, recipientTag: String(recipient.ownerTag) };
      const shown = withHeader({ ...payment, claims }, { recipientPublicKey: wallet });
      expect(failure(shown)).to.equal("RECIPIENT_SIGNAL");
    }
  });

  it("opens to this resource, chain and pool, byte for byte", () => {
    const elsewhere = [
      ...[
        "https://data.example/reports/7",
        "https://data.example/reports/7?page=2&",
        "http://data.example/reports/7?page=2",
      ],
      ...["https://data.example/reports/7?page=%32", "https://DATA.example/reports/7?page=2"],
    ].map((resource) => ({ resource }));
    const deployments = [
      { ...DEPLOYMENT, chainId: 1n },
      { ...DEPLOYMENT, pool: `0x${"77".repeat(20)}` },
    ].map((deployment) => ({ deployment }));
    for (const wishes of [...elsewhere, ...deployments]) {
      const payment = paymentTo(recipient, wishes);
      const said = { resourceHash: resourceHash(RESOURCE), pool: DEPLOYMENT.pool };
      const claims = { ...payment.claims, ...said, chainId: String(DEPLOYMENT.chainId) };
      expect(failure({ ...payment, claims }), JSON.stringify(Object.keys(wishes))).to.equal("RESOURCE_SIGNAL");
      // An honest service's token is for another resource.
      expect(failure(payment)).to.equal("TOKEN_CLAIMS");
    }
  });

  it("opens only with its own timestamp", () => {
    const payment = paymentTo(recipient);
    const timestamp = payment.header.timestamp + 1;
    const claims = { ...payment.claims, timestamp };
    expect(failure(withHeader({ ...payment, claims }, { timestamp }))).to.be.oneOf(["RESOURCE_SIGNAL", "TOKEN_CLAIMS"]);
  });

  it("opens only with its own ciphertext, so nobody can pay one amount and prove another", () => {
    const payment = paymentTo(recipient, { amount: 1n });
    const { R, C } = encryptAmount(recipient.encryptionKey, PRICE, randomScalar());
    const { header } = payment;
    for (const encryptedAmount of [
      { R, C },
      { ...header.encryptedAmount, C },
      { ...header.encryptedAmount, R },
    ])
      expect(failure(withHeader(payment, { encryptedAmount }))).to.equal("CIPHERTEXT");
  });

  it("matches the optional fields", () => {
    const payment = paymentTo(recipient);
    const { bundle } = statement(payment);
    const cheaper = bundle.amountPublicSignals.with(RANGE_SIGNAL.lowerBound, PRICE - 1n);
    const wrong = [
      { senderCommitment: 1n },
      { resourceUrl: "https://data.example/" },
      { amountPublicSignals: cheaper },
    ];
    for (const changes of wrong)
      expect(failure(withHeader(payment, changes)), Object.keys(changes)[0]).to.equal("BUNDLE");
  });
});

describe("a viewing key", () => {
  const viewer = { viewingKeys: [recipient.viewingKey], ownerTag: recipient.ownerTag };

  it("reads the amount", () => {
    for (const amount of [PRICE, PRICE + 1n, (PRICE * 11n) / 10n])
      expect(decryptAmount(viewer, statement(paymentTo(recipient, { amount })).signals, terms.bounds)).to.equal(amount);
  });

  it("detects what development keys can forge: another amount, or an unreadable note", () => {
    const read = (payment: TestPayment) => () => decryptAmount(viewer, statement(payment).signals, terms.bounds);
    for (const amount of [PRICE - 1n, (PRICE * 11n) / 10n + 1n, 0n])
      expect(read(paymentTo(recipient, { amount }))).to.throw("AMOUNT");
    const payment = paymentTo(recipient);
    const publicSignals = payment.header.publicSignals.with(PAYMENT_SIGNAL.recipientCommitment, 5n);
    const claims = { ...payment.claims, digest: signalsDigest(publicSignals) };
    expect(read(withHeader({ ...payment, claims }, { publicSignals }))).to.throw("AMOUNT");
  });
});
