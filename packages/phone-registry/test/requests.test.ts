import { expect } from "chai";
import fc from "fast-check";
import { createWorld, refused, type World, wallet } from "./support/world.ts";

const PHONE = "+14155550100";

describe("requests of the phone registry", () => {
  let world: World;
  before(async () => {
    world = await createWorld("sqlite::memory:");
  });
  after(() => world.close());

  /** Every field of every operation, with an otherwise valid request. */
  const operations = () => ({
    link: { action: world.registry.link, request: world.request(PHONE, 1) },
    verify: {
      action: world.registry.verify,
      request: { phone: PHONE, wallet: wallet(1), code: "123456", client: "c" },
    },
    resolve: { action: world.registry.resolve, request: { phone: PHONE, client: "c", caller: wallet(1) } },
    unlink: { action: world.registry.unlink, request: world.unlinkRequest(PHONE, 1) },
    erase: { action: world.registry.erase, request: { phone: PHONE, client: "c" } },
    useNonce: { action: world.registry.useNonce, request: { wallet: wallet(1), nonce: "n", deadline: 1 } },
  });

  it("are rejected by field name before any effect", async () => {
    const wrong = [
      ...[null, 0, 1.5, Number.NaN, true, "", " ", "0x", "\0", "x".repeat(300), "0".repeat(20_000), [], {}, ["+1"]],
      ...["+0123456789", "+1415555010a", "14155550100", "+1 415 555 0100", "+12345678901234567", "１２３４５６"],
      ...[
        "0xABC",
        `0x${"A".repeat(40)}`,
        `0x${"g".repeat(40)}`,
        `0x${"ab".repeat(8_193)}`,
        "12345",
        "1234567",
        "12345６",
      ],
    ];
    const before = world.sent.length;
    let count = 0;
    for (const [name, { action, request }] of Object.entries(operations()))
      for (const field of Object.keys(request))
        for (const value of wrong) {
          // Skips values that are valid for this field, and fields that are optional.
          const free = field === "client" || field === "nonce";
          if (free && typeof value === "string" && value.length > 0 && value.length <= 256) continue;
          if (field === "signature" && value === `0x${"A".repeat(40)}`) continue;
          if ((field === "deadline" || field === "issuedAt") && value === 0) continue;
          const change = { ...request, [field]: value };
          const error = await refused((action as (value: unknown) => Promise<unknown>)(change));
          expect(error, `${name} ${field} ${String(value).slice(0, 20)}`).to.include({ code: "INVALID_REQUEST" });
          expect(error.details).to.deep.equal({ field });
          if (typeof value === "string" && value.length > 3) expect(error.message).not.to.contain(value);
          count += 1;
        }
    expect(count).to.be.greaterThan(400);
    expect(world.sent).to.have.length(before);
  });

  it("are either executed or rejected with a code, with any content", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...Object.keys(operations())),
        fc.anything(),
        fc.string({ unit: "binary", maxLength: 300 }),
        fc.nat(20),
        async (name, anything, text, at) => {
          const { action, request } = operations()[name as keyof ReturnType<typeof operations>];
          const call = action as (value: unknown) => Promise<unknown>;
          const fields = Object.keys(request);
          for (const value of [anything, { ...request, [fields[at % fields.length]!]: text }]) {
            const error = await call(value).then(
              () => undefined,
              (reason: unknown) => reason as { code?: string },
            );
            if (error !== undefined) expect(error.code).to.match(/^[A-Z_]+$/);
          }
        },
      ),
      { numRuns: 800 },
    );
    // The ledger of all links still adds up.
    expect((await world.registry.check()).changes).to.be.greaterThan(0);
  });

  it("are rejected after close", async () => {
    const closed = await createWorld("sqlite::memory:");
    await closed.registry.close();
    await closed.registry.close();
    const lookup = closed.registry.resolve({ phone: PHONE, client: "c" });
    expect(await refused(lookup)).to.include({ code: "REGISTRY_CLOSED" });
  });

  it("are subject to limits that are validated at start", async () => {
    const rates = (limit: number, seconds: number) => ({ tries: { client: [{ limit, seconds }] } });
    const bad = [rates(-1, 60), rates(1.5, 60), rates(1, 0), rates(1, Number.NaN)];
    for (const limits of [...bad, { rangeDigits: 0 }, { rangeDigits: 7 }, { pendingSeconds: 10 }, { auditSeconds: 0 }])
      expect(await refused(createWorld("sqlite::memory:", { limits }))).to.include({ code: "INVALID_OPTIONS" });
  });
});
