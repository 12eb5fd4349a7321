// A paywall with addresses of months: which one a 402 asks for, which ones count, and which keys it holds.
import { generateKeyPairSync, sign } from "node:crypto";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { inspect } from "node:util";
import { connectChain } from "@sotto/chain";
import {
  completeBundle,
  formatViewingKeys,
  monthEnd,
  monthStart,
  type ProofHeader,
  parseMonth,
  parseStatement,
  SCHEDULE_PATH,
  TOKEN_TYPE,
  type ViewingKeys,
} from "@sotto/protocol";
import { expectCode } from "@sotto/test-kit/rejection";
import { type ScriptedNode, startScriptedNode } from "@sotto/test-kit/scripted-node";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { expect } from "chai";
import { Proofs } from "../src/checks/proofs.ts";
import { Settlements } from "../src/checks/settlement.ts";
import { Tokens } from "../src/checks/token.ts";
import { PaymentClaims } from "../src/claims/claims.ts";
import { ClaimStore } from "../src/claims/store.ts";
import { AddressNotice } from "../src/paywall/address-notice.ts";
import { Checks } from "../src/paywall/checks.ts";
import type { PaywallEvent } from "../src/paywall/events.ts";
import { createReporter } from "../src/paywall/opening.ts";
import type { MonthRecipient } from "../src/paywall/options.ts";
import { PublishedSchedule } from "../src/paywall/published.ts";
import { parseRecipients } from "../src/paywall/recipients.ts";
import { ServerClock } from "../src/paywall/server-clock.ts";
import { viewingKeysFile } from "../src/paywall/viewing-keys-file.ts";
import { parseKeySet, TokenKeys } from "../src/service/token-keys.ts";
import { addressesOf, keysOf, recipientOf, recipientOfLasting, viewingKeysOf } from "./support/months.ts";
import { DEPLOYMENT, type PaymentChanges, PRICE, paymentTo, RESOURCE, type TestRecipient } from "./support/payment.ts";

const ISSUER = "https://pay.example/zk";
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** The end of December. */
const END = monthEnd(parseMonth("2026-12"));
const months = (options: MonthRecipient) => parseRecipients({ recipient: options }, DEPLOYMENT);
const addressOf = (month: string) => recipientOf(month).address;

describe("the addresses of a paywall", () => {
  const recipients = months({ addresses: [addressesOf(), addressesOf({ first: "2026-11", months: 2, sequence: 2 })] });

  it("are those of the newest schedule in their month, and none outside of it", () => {
    expect(recipients.addressAt(END - 1).binding.key).to.equal(addressOf("2026-12"));
    expect(recipients.months?.lastMonth).to.equal("2026-12");
    expect(months({ addresses: addressesOf() }).addressAt(END).binding.key).to.equal(addressOf("2027-01"));
    const error = expectCode("ADDRESS_MONTH_MISSING", () => recipients.addressAt(END));
    expect(error.message).to.match(
      /no address for 2027-01-01T.*, only for 2026-11 to 2026-12; .*sotto address schedule/,
    );
    expectCode("ADDRESS_MONTH_MISSING", () => recipients.addressAt(monthStart(parseMonth("2026-11")) - 1));
  });

  it("count if an earlier schedule lists them", () => {
    const keys = recipients.acceptedAt(END + DAY_MS).map(({ binding }) => binding.key);
    expect(keys).to.deep.equal([addressOf("2027-01")]);
  });

  it("are refused if they are for another pool, wallet or tag, or share a number", () => {
    const other = addressesOf({ pool: `0x${"99".repeat(20)}` });
    expectCode("INVALID_OPTION", () => months({ addresses: other }));
    expectCode("INVALID_OPTION", () => months({ addresses: [addressesOf(), addressesOf({ seed: 8, sequence: 2 })] }));
    expectCode("INVALID_OPTION", () => months({ addresses: [addressesOf(), addressesOf({ months: 4 })] }));
    expectCode("INVALID_OPTION", () => months({ addresses: [] }));
    expectCode("INVALID_OPTION", () => months({ addresses: addressesOf(), viewingKey: 7n } as MonthRecipient));
    expectCode("INVALID_OPTION", () => months({ addresses: { schedule: {} } } as never));
  });
});

describe("the viewing keys of a paywall", () => {
  const open = (viewingKeys: MonthRecipient["viewingKeys"]) => months({ addresses: addressesOf(), viewingKeys });
  const refusal = (viewingKeys: unknown): string =>
    expectCode("INVALID_OPTION", () => open(viewingKeys as ViewingKeys)).message;
  const read = (recipients: ReturnType<typeof open>, ms = END - DAY_MS) =>
    recipients.viewingKeyOf(recipients.addressAt(ms), (error) => {
      throw error;
    });

  it("are those of two consecutive months at most", () => {
    const recipients = open(viewingKeysOf(["2027-01", "2026-12"]));
    expect(read(recipients)).to.equal(recipientOf("2026-12").viewingKey);
    expect(read(recipients, END)).to.equal(recipientOf("2027-01").viewingKey);
    expect(read(open(viewingKeysOf(["2027-01"])))).to.equal(undefined);
    expect(read(open(undefined))).to.equal(undefined);
    expect(refusal(viewingKeysOf(["2026-11", "2026-12", "2027-01"]))).to.match(
      /keys of 3 months.*at most 2.*sotto view-key/,
    );
    expect(refusal(viewingKeysOf(["2026-11", "2027-01"]))).to.match(/2026-11 and 2027-01, which do not follow/);
  });

  it("include neither the lasting key nor change keys", () => {
    const { ownerTag, keys } = viewingKeysOf(["2026-12"]);
    const { viewingKey } = keysOf();
    const lasting = { viewingKey, shieldedAddress: keysOf().shieldedAddress() };
    for (const held of [[lasting], [lasting, ...keys]])
      expect(refusal({ ownerTag, keys: held })).to.match(/the key of the lasting address, which reads every payment/);
    expect(refusal({ ownerTag, keys: [{ ...keys[0]!, changeKey: 7n }] })).to.match(
      /change keys, which are for auditors/,
    );
  });

  it("are the recipient's own", () => {
    expect(refusal(viewingKeysOf(["2026-12"], 8))).to.match(/another wallet or pool/);
    const { ownerTag, keys } = viewingKeysOf(["2026-12"]);
    const [other] = viewingKeysOf(["2027-01"]).keys;
    expect(refusal({ ownerTag, keys: [{ ...other!, month: keys[0]!.month }] })).to.match(/another wallet or pool/);
    for (const junk of [null, 5, "x", {}, { ownerTag, keys: [] }, Promise.resolve(undefined)]) refusal(junk);
  });

  it("are read anew from a function; wrong ones are reported once and leave those of before", () => {
    let held: ViewingKeys | undefined;
    const recipients = open(() => held);
    expect(read(recipients)).to.equal(undefined);
    held = viewingKeysOf(["2026-12"]);
    expect(read(recipients)).to.equal(recipientOf("2026-12").viewingKey);
    held = viewingKeysOf(["2026-12", "2027-01", "2027-02"]);
    expectCode("INVALID_OPTION", () => read(recipients));
    expect(read(recipients)).to.equal(recipientOf("2026-12").viewingKey);
    held = viewingKeysOf(["2027-01"]);
    expect(read(recipients)).to.equal(undefined);
    expect(read(recipients, END)).to.equal(recipientOf("2027-01").viewingKey);
  });

  it("are checked again only if they are others", () => {
    let checks = 0;
    const keys = viewingKeysOf(["2026-12"]);
    const held = {
      ...keys,
      get ownerTag() {
        checks += 1;
        return keys.ownerTag;
      },
    };
    const recipients = open(() => held);
    const first = checks;
    expect(first).to.be.greaterThan(0);
    expect(read(recipients)).to.equal(recipientOf("2026-12").viewingKey);
    expect(checks).to.equal(first);
  });

  it("never show a function's error, which could contain a key", () => {
    const failing = (error: object) => () => {
      throw Object.assign(new Error("the key is 0x1234", { cause: "0x1234" }), error);
    };
    for (const error of [{}, { code: "0x1234" }, { code: "EACCES", key: "0x1234" }]) {
      const refused = expectCode("INVALID_OPTION", () => open(failing(error)));
      expect(inspect(refused, { depth: 9, showHidden: true })).to.not.include("1234");
      expect(refused.message.endsWith("failed with EACCES")).to.equal("key" in error);
    }
  });

  it("come from a file that is replaced while the server runs", () => {
    const path = join(temporaryFolder("viewing-keys"), "viewing-keys.json");
    const write = (months: readonly string[]) =>
      writeFileSync(path, formatViewingKeys(viewingKeysOf(months), DEPLOYMENT));
    const recipients = open(viewingKeysFile(path, DEPLOYMENT));
    expect(read(recipients)).to.equal(undefined);
    write(["2026-12"]);
    expect(read(recipients)).to.equal(recipientOf("2026-12").viewingKey);
    writeFileSync(path, "{");
    expect(expectCode("INVALID_OPTION", () => read(recipients)).message).to.match(/failed with INVALID_KEY$/);
    expect(read(recipients)).to.equal(recipientOf("2026-12").viewingKey);
    expectCode("INVALID_OPTION", () => open(viewingKeysFile(path, DEPLOYMENT)));
    write(["2026-12", "2027-01"]);
    expect(read(recipients, END)).to.equal(recipientOf("2027-01").viewingKey);
    rmSync(path);
    expect(read(recipients)).to.equal(undefined);
  });
});

describe("the notice of a paywall whose addresses end", () => {
  const due = Date.UTC(2026, 10, 1);
  it("comes once a day from 30 days before the last month begins", () => {
    const events: PaywallEvent[] = [];
    let now = due - 1;
    const notice = new AddressNotice({
      months: { lastMonth: parseMonth("2026-12"), end: END },
      report: (event) => events.push(event),
      clock: () => now,
    });
    notice.check();
    expect(events).to.deep.equal([]);
    for (let hour = 0; hour < 24 * 63; hour += 1) {
      now = due + hour * 3_600_000;
      notice.check();
    }
    expect(events.map(({ days }) => days)).to.deep.equal(Array.from({ length: 63 }, (_, i) => 61 - i));
    expect(events[0]).to.deep.equal({ event: "addresses", month: "2026-12", days: 61 });
    notice.start();
    notice.close();
  });

  for (const [when, days, expected] of [
    ["before", 29, /end with 2026-12, the last month; days left: 29; .*sotto address schedule/],
    ["after", -1, /ended with 2026-12, so nobody can pay it; .*sotto address schedule/],
  ] as const)
    it(`is a process warning ${when} the end if no hook takes it`, async () => {
      const warned = new Promise<Error>((resolve) => process.once("warning", resolve));
      createReporter({} as never)({ event: "addresses", month: parseMonth("2026-12"), days });
      expect((await warned).message).to.match(expected);
    });
});

describe("the path of a paywall's schedule", () => {
  const schedule = months({ addresses: addressesOf() }).months!.schedule;
  const published = new PublishedSchedule(schedule);

  it("answers the signed schedule", () => {
    for (const method of ["GET", "HEAD"]) {
      const decision = published.answer({ method }, `${SCHEDULE_PATH}?x=1`);
      if (decision?.kind !== "answered") return expect.fail("not answered");
      expect(JSON.parse(new TextDecoder().decode(decision.body))).to.deep.equal(schedule);
      expect(decision.headers).to.include({ "content-type": "application/json; charset=utf-8" });
    }
    expect(published.answer({ method: "GET" }, "/report")).to.equal(undefined);
    const refused = published.answer({ method: "POST" }, SCHEDULE_PATH);
    expect(refused).to.include({ kind: "refused", status: 405 });
    expect(refused?.headers).to.include({ allow: "GET, HEAD" });
  });
});

describe("payments around the end of a month", () => {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const base64 = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  const recipients = months({ addresses: addressesOf(), viewingKeys: viewingKeysOf(["2026-12", "2027-01"]) });
  let node: ScriptedNode;
  let claims: PaymentClaims;
  let now: number;
  beforeEach(async () => {
    now = END;
    node = await startScriptedNode({ eth_chainId: "0x7a69", eth_blockNumber: "0x10", eth_getTransactionReceipt: null });
    const onError = () => undefined;
    const store = await ClaimStore.open({ url: "sqlite::memory:", clock: () => now, onError });
    claims = new PaymentClaims(store, () => now, onError);
  });
  afterEach(async () => {
    node.close();
    await claims.close();
  });

  async function open(of = recipients) {
    const clock = () => now;
    const keys = await parseKeySet({ keys: [{ ...publicKey.export({ format: "jwk" }), kid: "a" }] });
    const chain = connectChain({ urls: [node.url], chainId: DEPLOYMENT.chainId, timeoutMs: 120_000, clock });
    return new Checks({
      config: { recipients: of, deployment: DEPLOYMENT, inMemory: false },
      viewingKeyOf: (address) => of.viewingKeyOf(address, (error) => expect.fail(String(error))),
      claims,
      clock,
      startedAt: now,
      serverClock: new ServerClock({ chain, clock }),
      tokens: new Tokens(TokenKeys.pinned(keys, clock), [ISSUER]),
      proofs: new Proofs({ verify: async () => true, warm: async () => undefined }),
      settlements: new Settlements({
        chain,
        pool: DEPLOYMENT.pool,
        confirmations: 1,
        blockTimeMs: 1_000,
        waitMs: 0,
        clock,
      }),
    });
  }

  /** A settled payment to a month's address. */
  const paid = (month: string, changes?: PaymentChanges): ProofHeader => paidTo(recipientOf(month), changes);

  function paidTo(recipient: TestRecipient, changes: PaymentChanges = {}): ProofHeader {
    const payment = paymentTo(recipient, changes);
    node.answers["eth_call"] = payment.claims.digest;
    const text = `${base64({ alg: "EdDSA", kid: "a", typ: TOKEN_TYPE })}.${base64({ ...payment.claims, iss: ISSUER })}`;
    const signature = sign(null, Buffer.from(text), privateKey).toString("base64url");
    return { ...payment.header, paymentToken: `${text}.${signature}` };
  }

  const shown = (checks: Checks, header: ProofHeader) =>
    checks.pass(header, { price: PRICE, resource: RESOURCE }).then(
      ({ payment }) => payment.amount ?? "unknown",
      ({ failure, code }) => failure ?? code,
    );
  const shownAgain = (checks: Checks, header: ProofHeader) =>
    checks
      .passAgain(header, { price: PRICE, resource: RESOURCE }, async () => false)
      .then(
        () => "recovered",
        ({ failure, code }) => failure ?? code,
      );

  it("count at the address that the server asked for, however its clock and the payer's differ", async () => {
    const checks = await open();
    // The server's clock is right within the limits of `ServerClock`; the payer's within those of freshness.
    for (const asked of [END - 10 * MINUTE_MS, END - MINUTE_MS, END - 1, END, END + MINUTE_MS])
      for (const off of [-5 * MINUTE_MS, -MINUTE_MS, 0, 30_000])
        for (const took of [0, 2 * MINUTE_MS, 5 * MINUTE_MS]) {
          const month = recipients.addressAt(asked).binding.key === addressOf("2026-12") ? "2026-12" : "2027-01";
          // The timestamp is that of the proof, and the header is shown once the payment is settled.
          now = asked + took;
          const timestamp = now + off;
          expect(await shown(checks, paid(month, { timestamp })), `${asked - END} ${off} ${took}`).to.equal(PRICE);
        }
  });

  it("count for ten minutes beyond the month at both ends, and no longer", async () => {
    const checks = await open();
    for (const [month, timestamp, expected] of [
      ["2026-12", END + 10 * MINUTE_MS - 1, PRICE],
      ["2026-12", END + 10 * MINUTE_MS, "RECIPIENT_MONTH"],
      ["2027-01", END - 10 * MINUTE_MS, PRICE],
      ["2027-01", END - 10 * MINUTE_MS - 1, "RECIPIENT_MONTH"],
      ["2027-02", END, "RECIPIENT_MONTH"],
    ] as const) {
      now = timestamp;
      expect(await shown(checks, paid(month, { timestamp })), `${month} ${timestamp - END}`).to.equal(expected);
    }
  });

  it("are ordinary refusals at times that no month has", async () => {
    const checks = await open();
    const header = paid("2026-12", { timestamp: END - MINUTE_MS });
    const times = [0, Date.UTC(2019, 11, 31), Date.UTC(2101, 0, 1), 8_640_000_000_000_000];
    for (const timestamp of times) {
      expect(await shown(checks, { ...header, timestamp }), String(timestamp)).to.match(/^(TOO_OLD|FROM_THE_FUTURE)$/);
      expect(await shownAgain(checks, { ...header, timestamp })).to.equal("RECIPIENT_MONTH");
    }
    // The parser of headers refuses it before.
    expect(recipients.acceptedAt(Number.NaN)).to.deep.equal([]);
    expect(await shownAgain(checks, header)).to.equal("recovered");
  });

  it("are recovered months later, also with a newer schedule", async () => {
    const header = paid("2026-12", { timestamp: END - MINUTE_MS });
    now = END + 45 * DAY_MS;
    expect(await shownAgain(await open(), header)).to.equal("recovered");
    const newer = addressesOf({ first: "2027-02", sequence: 2 });
    const later = await open(months({ addresses: [newer, addressesOf()] }));
    expect(await shownAgain(later, header)).to.equal("recovered");
    expect(await shownAgain(await open(months({ addresses: newer })), header)).to.equal("RECIPIENT_MONTH");
  });

  it("are accepted by replicas with different schedules that list the address", async () => {
    const header = paid("2027-01", { timestamp: END + MINUTE_MS });
    now = END + 2 * MINUTE_MS;
    const newer = addressesOf({ months: 12, sequence: 2 });
    for (const addresses of [addressesOf(), newer, [addressesOf(), newer]])
      expect(await shownAgain(await open(months({ addresses })), header)).to.equal("recovered");
    expect(await shown(await open(months({ addresses: newer })), header)).to.equal("unknown");
  });

  it("are accepted with an unknown amount without the key of their month", async () => {
    const withKeys = (viewingKeys: ViewingKeys | undefined) => months({ addresses: addressesOf(), viewingKeys });
    const header = () => paid("2027-01", { timestamp: now });
    expect(await shown(await open(withKeys(undefined)), header())).to.equal("unknown");
    expect(await shown(await open(withKeys(viewingKeysOf(["2026-12"]))), header())).to.equal("unknown");
    expect(await shown(await open(withKeys(viewingKeysOf(["2026-12", "2027-01"]))), header())).to.equal(PRICE);
  });

  it("count at the lasting address of before, which nobody is asked to pay, without its viewing key", async () => {
    const { wallet, address: shieldedAddress, ...rest } = recipientOfLasting();
    const lasting = { wallet, shieldedAddress, signature: "0x00", issuedAt: 0 };
    const moved = months({ addresses: addressesOf(), lasting });
    const header = () => paidTo({ wallet, address: shieldedAddress, ...rest }, { timestamp: now });
    expect(await shown(await open(moved), header())).to.equal("unknown");
    expect(await shownAgain(await open(moved), header())).to.equal("recovered");
    expect(await shown(await open(), header())).to.equal("RECIPIENT_MONTH");
    expect(moved.addresses.map(({ binding }) => binding.key)).to.not.include(shieldedAddress);
    expect(moved.addressAt(now).binding.key).to.equal(addressOf("2027-01"));
    const refused = (changes: object) =>
      expectCode("INVALID_OPTION", () => months({ addresses: addressesOf(), lasting: { ...lasting, ...changes } }));
    expect(refused({ viewingKey: rest.viewingKey }).message).to.not.include(String(rest.viewingKey));
    refused({ wallet: `0x${"33".repeat(20)}` });
    refused({ shieldedAddress: "0x12" });
  });

  it("are checked before a settlement that nobody could use", async () => {
    const checks = await open();
    const code = async (month: string, timestamp: number) => {
      const to = recipientOf(month);
      const { header, senderCommitment } = paymentTo(to, { timestamp });
      const { wallet, keyX, ownerTag } = to;
      const bounds = { lowerBound: PRICE, upperBound: (PRICE * 11n) / 10n };
      const terms = { deployment: DEPLOYMENT, recipient: { wallet, keyX, ownerTag }, resourceUrl: RESOURCE, bounds };
      const statement = parseStatement(completeBundle(header, senderCommitment, terms));
      return checks.assertProofs(statement).then(
        () => "valid",
        ({ failure }) => failure,
      );
    };
    expect(await code("2026-12", END - 1)).to.equal("valid");
    expect(await code("2026-12", END + DAY_MS)).to.equal("RECIPIENT_MONTH");
    expect(await code("2026-12", 0)).to.equal("RECIPIENT_MONTH");
  });
});
