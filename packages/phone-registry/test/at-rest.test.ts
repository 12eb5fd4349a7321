import { createHash } from "node:crypto";
import { EVERY_DATABASE } from "@sotto/test-kit/databases";
import { expect } from "chai";
import { sql } from "kysely";
import { NUMBERS } from "./support/numbers.ts";
import { fileBytes, type RawDatabase } from "./support/raw.ts";
import { overWorlds } from "./support/suite.ts";
import { refused, shielded, slot, type World, wallet } from "./support/world.ts";

const hashes = (text: string): string[] =>
  ["sha256", "sha1", "md5", "sha512", "sha3-256"].flatMap((name) => {
    const hash = createHash(name).update(text).digest();
    return [hash.toString("hex"), hash.toString("base64"), hash.toString("base64url")];
  });
const encodings = (hex: string): string[] => {
  const bytes = Buffer.from(hex.replace(/^0x/, ""), "hex");
  return [bytes.toString("hex"), bytes.toString("base64").replace(/=+$/, ""), bytes.toString("base64url")];
};

/** Everything about a linked number that must not be in the database. */
function secretsOf({ e164, nationalDigits, formats }: (typeof NUMBERS)[number], n: number): string[] {
  const digits = e164.slice(1);
  const spellings = [e164, digits, nationalDigits, ...formats];
  const base64 = spellings.map((text) => Buffer.from(text).toString("base64").replace(/=+$/, ""));
  const values = [wallet(n), shielded(n), `0x${n.toString(16).padStart(130, "c")}`];
  return [...spellings, ...base64, ...spellings.flatMap(hashes), ...values.flatMap(encodings)];
}

overWorlds("phone registry at rest", EVERY_DATABASE, (newWorld) => {
  let world: World;
  let raw: RawDatabase;
  beforeEach(async () => {
    world = await newWorld();
    raw = await world.raw();
  });
  const resolved = (phone: string) => world.registry.resolve({ phone, client: "payer" });

  it("reveals no number, hash, wallet, key, signature or code in any encoding", async () => {
    // Creates every kind of row (linked, renewed, unverified) and deletes some (erased, unlinked), which may leave traces.
    for (const [n, { e164 }] of NUMBERS.entries()) {
      if (n % 5 === 0) await world.registry.link(world.request(e164, n, { client: `${e164} calls` }));
      else await world.linked(e164, n);
      await world.registry.resolve({ phone: e164, client: `payer ${e164}`, caller: wallet(n) });
      if (n % 5 === 1) await world.registry.erase({ phone: e164, client: `operator ${e164}` });
      if (n % 5 === 2) await world.registry.unlink(world.unlinkRequest(e164, n));
      if (n % 5 === 3) await world.linked(e164, n, { key: shielded(n), issuedAt: slot(1) });
      await world.registry.useNonce({ wallet: wallet(n), nonce: e164, deadline: world.now / 1000 + 60 });
    }
    const dump = await raw.dump();
    const tables = new Set(dump.map(({ table }) => table));
    expect([...tables]).to.include.members(
      ["mappings", "heads", "codes", "once", "quotas", "audit", "keys"].map((table) => `phone_${table}`),
    );
    const secrets = NUMBERS.flatMap((number, n) => secretsOf(number, n));
    // One long text, because searching every value for every secret takes far longer.
    const find = (values: readonly { text: string }[], bytes: string) => {
      const everything = [bytes, ...values.map(({ text }) => text)].join("\0");
      return secrets.filter((secret) => everything.includes(secret));
    };
    expect(find(dump, fileBytes(world.options.store))).to.deep.equal([]);
    // Times contain any six digits by chance, so codes are searched in text columns only.
    const texts = dump
      .filter(({ numeric }) => !numeric)
      .map(({ text }) => text)
      .join("\0");
    const codes = world.sent.flatMap(({ code }) => [code, ...hashes(code)]);
    expect(codes.filter((code) => texts.includes(code))).to.deep.equal([]);
    // Checks the search itself: it finds a planted secret of each kind.
    const planted = [
      NUMBERS[0]!.e164,
      NUMBERS[1]!.nationalDigits,
      createHash("sha256").update(NUMBERS[2]!.e164).digest("hex"),
      encodings(wallet(3))[0]!,
      encodings(shielded(4))[2]!,
    ];
    for (const [n, text] of planted.entries())
      await raw.run(sql`insert into phone_keys (name, fingerprint) values (${`planted${n}`}, ${text})`);
    expect(find(await raw.dump(), "")).to.include.members(planted);
  });

  it("differs in each database, so that nothing can be compared or tabulated", async () => {
    const other = await newWorld();
    for (const one of [world, other]) await one.linked(NUMBERS[0]!.e164, 1);
    const values = async (one: World) => {
      const dump = await (await one.raw()).dump();
      return new Set(dump.filter(({ text }) => text.length >= 22).map(({ text }) => text));
    };
    const [mine, theirs] = [await values(world), await values(other)];
    expect(mine.size).to.be.greaterThan(8);
    // Both databases have the names of the migrations.
    expect([...mine].filter((text) => theirs.has(text) && !/^\d{4}-/.test(text))).to.deep.equal([]);
  });

  it("stores links of accounts and of contract wallets with the same length", async () => {
    await world.linked(NUMBERS[0]!.e164, 1);
    await world.linked(NUMBERS[1]!.e164, 2, { signature: `0x${"ab".repeat(150)}` });
    const rows = await raw.db.selectFrom("phone_mappings").select("envelope").execute();
    expect(new Set(rows.map(({ envelope }) => envelope.length)).size).to.equal(1);
  });

  describe("rejects", () => {
    const [a, b] = [NUMBERS[0]!.e164, NUMBERS[1]!.e164];
    const rowOf = async (phoneVersion: "oldest" | "newest") => {
      const rows = await raw.db.selectFrom("phone_mappings").selectAll().execute();
      return phoneVersion === "oldest" ? rows[0]! : rows.at(-1)!;
    };
    const expectTampered = async (phone = a) => {
      expect(await refused(resolved(phone))).to.include({ code: "RECORD_TAMPERED" });
      // Linking on top of it fails too.
      const again = world.registry.link(world.request(phone, 5, { issuedAt: slot(1) }));
      expect(await refused(again)).to.include({ code: "RECORD_TAMPERED" });
    };

    it("a record with any bit changed", async () => {
      await world.linked(a, 1);
      const { id, envelope } = await rowOf("oldest");
      const dot = envelope.indexOf(".");
      for (const at of [0, 20, dot - 2, dot + 1, dot + 40, envelope.length - 3]) {
        const changed = envelope[at] === "A" ? "B" : "A";
        const flipped = `${envelope.slice(0, at)}${changed}${envelope.slice(at + 1)}`;
        await raw.run(sql`update phone_mappings set envelope = ${flipped} where id = ${id}`);
        await expectTampered();
      }
      for (const broken of ["", ".", "A.A", envelope.slice(0, dot), envelope.slice(0, -30)]) {
        await raw.run(sql`update phone_mappings set envelope = ${broken} where id = ${id}`);
        await expectTampered();
      }
      await raw.run(sql`update phone_mappings set envelope = ${envelope} where id = ${id}`);
      expect((await resolved(a))?.verified).to.equal(true);
    });

    it("records that were swapped, whole or by their indexes", async () => {
      await world.linked(a, 1);
      await world.linked(b, 2);
      const rows = await raw.db.selectFrom("phone_mappings").selectAll().execute();
      const [one, two] = [rows[0]!, rows[1]!];
      const set = (id: string, { number, slot: place, envelope }: typeof one) =>
        raw.run(
          sql`update phone_mappings set number = ${number}, slot = ${place}, envelope = ${envelope} where id = ${id}`,
        );
      await set(one.id, { ...one, envelope: two.envelope });
      await set(two.id, { ...two, envelope: one.envelope });
      await expectTampered(a);
      await expectTampered(b);
      await set(one.id, { ...one, number: "x", slot: "x" });
      await set(two.id, { ...one, envelope: two.envelope });
      await set(one.id, { ...two, envelope: one.envelope });
      await expectTampered(a);
      await expectTampered(b);
      await set(one.id, { ...one, slot: "x" });
      await set(two.id, two);
      await set(one.id, one);
      expect((await resolved(a))?.binding.wallet).to.equal(wallet(1));
    });

    it("an older version of the record, its version number or its head", async () => {
      await world.linked(a, 1);
      const [row, head] = [await rowOf("oldest"), (await raw.db.selectFrom("phone_heads").selectAll().execute())[0]!];
      await world.linked(a, 2, { issuedAt: slot(1) });
      const [newRow, newHead] = [
        await rowOf("oldest"),
        (await raw.db.selectFrom("phone_heads").selectAll().execute())[0]!,
      ];
      expect([newRow.id, newRow.version]).to.deep.equal([row.id, 2]);
      const put = async (values: Partial<typeof row>, headValues: Partial<typeof head>) => {
        await raw.db
          .updateTable("phone_mappings")
          .set({ ...newRow, ...values })
          .where("id", "=", row.id)
          .execute();
        await raw.db
          .updateTable("phone_heads")
          .set({ ...newHead, ...headValues })
          .where("id", "=", row.id)
          .execute();
      };
      for (const [values, headValues] of [
        [row, {}],
        [{ envelope: row.envelope }, {}],
        [row, { version: 1 }],
        [{}, head],
        [{ version: 1 }, head],
      ] as const) {
        await put(values, headValues);
        expect(await refused(resolved(a))).to.include({ code: "RECORD_TAMPERED" });
      }
      await put({}, {});
      expect((await resolved(a))?.binding.wallet).to.equal(wallet(2));
      await raw.run(sql`delete from phone_heads`);
      await expectTampered();
    });

    it("a pending link that was made to look verified", async () => {
      await world.linked(a, 1);
      const proven = await rowOf("oldest");
      await world.registry.link(world.request(a, 2));
      await raw.run(sql`update phone_mappings set slot = 'x', number = 'x' where id = ${proven.id}`);
      await raw.run(sql`update phone_mappings set verified = 1, slot = ${proven.slot} where id <> ${proven.id}`);
      await expectTampered();
    });

    it("a damaged record, which an operator can erase so that the number can be linked again", async () => {
      await world.linked(a, 1);
      await raw.run(sql`update phone_mappings set envelope = 'A.A'`);
      await expectTampered();
      expect(await world.registry.erase({ phone: a, client: "operator" })).to.include({ mappings: 1 });
      await world.linked(a, 1, { issuedAt: slot(1) });
      expect((await resolved(a))?.verified).to.equal(true);
    });
  });

  it("does not reveal why a code is wrong after its row was changed", async () => {
    const phone = NUMBERS[0]!.e164;
    await world.registry.link(world.request(phone, 1));
    const code = world.lastCode(phone);
    // The attacker knows another number's code. Its hash is not valid for this number.
    await world.registry.link(world.request(NUMBERS[1]!.e164, 2));
    const mine = world.lastCode(NUMBERS[1]!.e164);
    const rows = await raw.db.selectFrom("phone_codes").selectAll().execute();
    const [first, second] = rows;
    const waiting = await raw.db.selectFrom("phone_mappings").selectAll().execute();
    expect([waiting.length, rows.length]).to.deep.equal([2, 2]);
    await raw.run(sql`update phone_codes set hash = ${second!.hash} where mapping_id = ${first!.mapping_id}`);
    await raw.run(sql`update phone_codes set hash = ${first!.hash} where mapping_id = ${second!.mapping_id}`);
    const attempt = (typed: string) =>
      world.registry.verify({ phone, wallet: wallet(1), code: typed, client: "typed" });
    for (const typed of [mine, code]) expect(await refused(attempt(typed))).to.include({ code: "CODE_WRONG" });
    // A code's expiry cannot be extended.
    await raw.run(sql`update phone_codes set hash = ${first!.hash} where mapping_id = ${first!.mapping_id}`);
    await raw.run(sql`update phone_codes set expires_at = ${world.now + 86_400_000}`);
    expect(await refused(attempt(code))).to.include({ code: "CODE_WRONG" });
  });
});
