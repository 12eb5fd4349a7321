// Each check that costs no pairing, tried alone: everything else of the header is right.
import { encryptAmount, type PaymentTokenClaims, type ProofHeader, randomScalar, resourceHash } from "@sotto/protocol";
import { expect } from "chai";
import { readAmount } from "../src/checks/amount.ts";
import { CheckFailed } from "../src/checks/outcome.ts";
import {
  checkClaims,
  checkRecipient,
  checkSignals,
  checkTime,
  FRESH_MS,
  SKEW_MS,
  type Statement,
} from "../src/checks/statement.ts";
import { createMerchant, demand, PLACE, PRICE, paymentTo, RESOURCE, type TestPayment } from "./support/payment.ts";

const merchant = createMerchant();
const other = createMerchant(`0x${"44".repeat(20)}`);

/** Which check a payment fails; nothing: it passes all that cost no pairing. */
function failure({ header, claims }: TestPayment, now = header.timestamp): string | undefined {
  try {
    checkRecipient(header, merchant);
    checkTime(header, now);
    checkClaims(claims, header, merchant, demand);
    checkSignals(header, BigInt(claims.senderCommitment), merchant, demand);
    return undefined;
  } catch (error) {
    if (error instanceof CheckFailed) return error.failure;
    throw error;
  }
}

const statement = ({ header, senderCommitment }: TestPayment): Statement =>
  checkSignals(header, senderCommitment, merchant, demand);

/** The payment with another header, vouched for as it is. */
function withHeader(payment: TestPayment, changes: Partial<ProofHeader>): TestPayment {
  return { ...payment, header: { ...payment.header, ...changes } };
}

describe("a header's statement", () => {
  it("passes if valid, with and without the rest of its bundle", () => {
    const payment = paymentTo(merchant);
    expect(failure(payment)).to.equal(undefined);
    const { rangeSignals, nullifier, digest } = statement(payment);
    const { senderCommitment } = payment;
    const full = { senderCommitment, amountPublicSignals: rangeSignals, resourceUrl: RESOURCE };
    expect(failure(withHeader(payment, full))).to.equal(undefined);
    expect([nullifier, digest]).to.deep.equal([payment.header.publicSignals[6], payment.claims.digest]);
    expect(rangeSignals.slice(2)).to.deep.equal([
      ...[merchant.shielded.encryptionKey.x, merchant.shielded.ownerTag, PRICE, (PRICE * 11n) / 10n],
    ]);
  });

  it("names this recipient's wallet", () => {
    expect(failure(withHeader(paymentTo(merchant), { recipientPublicKey: other.wallet }))).to.equal("RECIPIENT");
  });

  it("is at most five minutes old, to the millisecond, and at most 30 s ahead", () => {
    const payment = paymentTo(merchant);
    const { timestamp } = payment.header;
    expect(failure(payment, timestamp + FRESH_MS)).to.equal(undefined);
    expect(failure(payment, timestamp + FRESH_MS + 1)).to.equal("TOO_OLD");
    expect(failure(payment, timestamp - SKEW_MS)).to.equal(undefined);
    expect(failure(payment, timestamp - SKEW_MS - 1)).to.equal("FROM_THE_FUTURE");
    // Not yet is not never: its payer is told when.
    for (const early of [1, 1000, 1001, 90_000]) {
      const at = timestamp - SKEW_MS - early;
      expect(() => checkTime(payment.header, at))
        .to.throw()
        .with.property("retryAfter", Math.ceil(early / 1000));
    }
    expect(() => checkTime(payment.header, timestamp + FRESH_MS + 1))
      .to.throw()
      .with.property("retryAfter", undefined);
    expect([FRESH_MS, SKEW_MS]).to.deep.equal([300_000, 30_000]);
  });

  it("matches the token, claim by claim", () => {
    const payment = paymentTo(merchant);
    const wrong: Partial<PaymentTokenClaims> = {
      ...{ digest: `0x${"55".repeat(32)}`, chainId: "1", pool: `0x${"66".repeat(20)}`, recipient: other.wallet },
      recipientKey: String(other.shielded.encryptionKey.x),
      recipientTag: String(other.shielded.ownerTag),
      ...{ resourceHash: resourceHash(`${RESOURCE}&more`), nullifier: "1", timestamp: payment.claims.timestamp + 1 },
      validUntil: payment.claims.validUntil + 60,
    };
    for (const [name, value] of Object.entries(wrong))
      expect(failure({ ...payment, claims: { ...payment.claims, [name]: value } }), name).to.equal("TOKEN_CLAIMS");
    // The one that is not known otherwise is proven by what it opens.
    const sender = { ...payment, claims: { ...payment.claims, senderCommitment: "1" } };
    expect(failure(sender)).to.equal("RECIPIENT_SIGNAL");
    expect(Object.keys(wrong).length + 2).to.equal(Object.keys(payment.claims).length);
  });

  it("opens to this recipient's wallet, key and tag", () => {
    const { viewingKey, ...rest } = createMerchant(merchant.wallet);
    const strangers = [
      { ...rest, shielded: { ...merchant.shielded, encryptionKey: rest.shielded.encryptionKey } },
      { ...rest, shielded: { ...merchant.shielded, ownerTag: rest.shielded.ownerTag } },
      { ...merchant, wallet: other.wallet },
    ];
    expect(viewingKey).to.not.equal(merchant.viewingKey);
    for (const stranger of strangers) {
      const payment = paymentTo(stranger);
      // A service that is fooled, or lies, says that it is for this merchant.
      const { wallet: recipient, shielded } = merchant;
      const recipientKey = String(shielded.encryptionKey.x);
      const claims = { ...payment.claims, recipient, recipientKey, recipientTag: String(shielded.ownerTag) };
      const shown = withHeader({ ...payment, claims }, { recipientPublicKey: recipient });
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
      ...["https://data.example/reports/7?page=%32", "https://SHOP.example/reports/7?page=2"],
    ].map((resource) => ({ resource }));
    const places = [
      { ...PLACE, chainId: 1n },
      { ...PLACE, pool: `0x${"77".repeat(20)}` },
    ].map((place) => ({ place }));
    for (const wishes of [...elsewhere, ...places]) {
      const payment = paymentTo(merchant, wishes);
      const said = { resourceHash: resourceHash(RESOURCE), pool: PLACE.pool };
      const claims = { ...payment.claims, ...said, chainId: String(PLACE.chainId) };
      expect(failure({ ...payment, claims }), JSON.stringify(Object.keys(wishes))).to.equal("RESOURCE_SIGNAL");
      // And where the service says the truth, its word is not for this shop.
      expect(failure(payment)).to.equal("TOKEN_CLAIMS");
    }
  });

  it("opens only with its own timestamp", () => {
    const payment = paymentTo(merchant);
    const timestamp = payment.header.timestamp + 1;
    const claims = { ...payment.claims, timestamp };
    expect(failure(withHeader({ ...payment, claims }, { timestamp }))).to.be.oneOf(["RESOURCE_SIGNAL", "TOKEN_CLAIMS"]);
  });

  it("concerns one ciphertext: nobody pays one amount and proves another", () => {
    const payment = paymentTo(merchant, { amount: 1n });
    const { R, C } = encryptAmount(merchant.shielded.encryptionKey, PRICE, randomScalar());
    const { header } = payment;
    for (const encryptedAmount of [
      { R, C },
      { ...header.encryptedAmount, C },
      { ...header.encryptedAmount, R },
    ])
      expect(failure(withHeader(payment, { encryptedAmount }))).to.equal("CIPHERTEXT");
  });

  it("matches the optional fields", () => {
    const payment = paymentTo(merchant);
    const { rangeSignals } = statement(payment);
    const cheaper = rangeSignals.with(4, PRICE - 1n);
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
  const viewer = { viewingKey: merchant.viewingKey, ownerTag: merchant.shielded.ownerTag };

  it("reads the amount", () => {
    for (const amount of [PRICE, PRICE + 1n, (PRICE * 11n) / 10n])
      expect(readAmount(viewer, statement(paymentTo(merchant, { amount })), demand.bounds)).to.equal(amount);
  });

  it("detects what development keys can forge: another amount, or an unreadable note", () => {
    const read = (payment: TestPayment) => () => readAmount(viewer, statement(payment), demand.bounds);
    for (const amount of [PRICE - 1n, (PRICE * 11n) / 10n + 1n, 0n])
      expect(read(paymentTo(merchant, { amount }))).to.throw("AMOUNT");
    const payment = paymentTo(merchant);
    const publicSignals = payment.header.publicSignals.with(7, 5n);
    expect(read(withHeader(payment, { publicSignals }))).to.throw("AMOUNT");
  });
});
