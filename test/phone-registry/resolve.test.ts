// Resolving over HTTP: every spelling of a number, and what an attacker learns by trying numbers or observing response
// sizes.

import { once } from "node:events";
import { connect } from "node:net";
import { clockWithin } from "@sotto/test-kit/clock";
import { closedAfterTest } from "@sotto/test-kit/closed-after";
import { expect } from "chai";
import {
  account,
  call,
  linkBody,
  linkVerified,
  newNumber,
  openTestRegistry,
  registryOf,
  resolveUrl,
  type TestRegistry,
} from "./support/world.ts";

describe("resolving a phone number", function () {
  const registry = registryOf(this);

  it("accepts every spelling of the path", async () => {
    const [signer, phone] = [account(), newNumber()];
    await linkVerified(registry, signer, phone);
    const digits = phone.slice(1);
    const spaced = `${digits.slice(0, 2)}%20${digits.slice(2, 5)}%20${digits.slice(5)}`;
    for (const written of [phone, `%2B${digits}`, `%2b${digits}`, digits, `+${spaced}`, spaced, `%20${digits}`])
      expect((await call(`${registry.url}/phone/resolve/${written}`)).body["wallet"], written).to.equal(signer.address);
    for (const written of [`+${digits.slice(0, 5)}-${digits.slice(5)}`, `+(49)${digits.slice(2)}`, `%2B${spaced}`])
      expect((await call(`${registry.url}/phone/resolve/${written}`)).body["wallet"], written).to.equal(signer.address);
  });

  const bad: [string, string, number][] = [
    ["no number", "abc", 400],
    ["a number that cannot exist", "%2B4910", 400],
    ["nothing", "", 400],
    ["a path", "..%2F..%2Fphone", 400],
    ["a null character", "%2B4915112345678%00", 400],
    ["a wrong escape", "%2", 400],
    ["a wrong UTF-8", "%ff%fe", 400],
    ["sixty-five characters", "4".repeat(65), 400],
    ["two hundred characters", "4".repeat(200), 404],
    ["a query in place of it", "?phone=4915112345678", 400],
  ];
  for (const [what, path, status] of bad)
    it(`explains what is wrong with ${what}`, async () => {
      const answer = await call(`${registry.url}/phone/resolve/${path}`);
      expect(answer.status).to.equal(status);
      expect(JSON.stringify(answer.body)).to.not.include("12345678");
    });

  /** The complete response as bytes on the wire. */
  async function raw(phone: string): Promise<string> {
    const { hostname, port, pathname } = new URL(resolveUrl(registry, phone));
    const socket = connect(Number(port), hostname);
    socket.write(`GET ${pathname} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`);
    let text = "";
    socket.on("data", (part) => {
      text += String(part);
    });
    await once(socket, "close");
    return text;
  }

  it("answers known and unknown numbers with equal lengths and headers, uncached", async () => {
    const [known, unproven, unknown] = [newNumber(), newNumber(), newNumber()];
    await linkVerified(registry, account(), known);
    await registry.link(await linkBody(registry, account(), unproven));
    const answers = [await raw(known), await raw(unproven), await raw(unknown)];
    expect(answers.map((text) => text.slice(9, 12))).to.deep.equal(["200", "200", "404"]);
    expect(new Set(answers.map((text) => text.length)).size).to.equal(1);
    const headers = answers.map((text) =>
      text
        .split("\r\n\r\n")[0]!
        .split("\r\n")
        .slice(1)
        .map((line) => line.split(":")[0]),
    );
    expect(headers[2]).to.have.members(headers[0]!);
    expect(headers[1]).to.deep.equal(headers[0]);
    for (const text of answers) {
      expect(text)
        .to.match(/^cache-control: no-store\r$/m)
        .and.not.match(/^(etag|last-modified):/m);
      expect(() => JSON.parse(text.split("\r\n\r\n")[1]!)).to.not.throw();
    }
  });

  it("answers HEAD without a body, and other methods with 405 and Allow", async () => {
    const phone = newNumber();
    await linkVerified(registry, account(), phone);
    const head = await fetch(resolveUrl(registry, phone), { method: "HEAD" });
    expect([head.status, await head.text()]).to.deep.equal([200, ""]);
    const other = await fetch(resolveUrl(registry, phone), { method: "POST" });
    expect([other.status, other.headers.get("allow")]).to.deep.equal([405, "GET, HEAD"]);
  });

  it("hides unverified numbers if configured", async () => {
    const hiding = closedAfterTest(await openTestRegistry({ SOTTO_PHONE_UNVERIFIED: "hide" }));
    const [signer, phone] = [account(), newNumber()];
    await hiding.link(await linkBody(hiding, signer, phone));
    expect((await hiding.resolve(phone)).body["code"]).to.equal("UNKNOWN_NUMBER");
    await linkVerified(hiding, signer, phone);
    expect((await hiding.resolve(phone)).body["wallet"]).to.equal(signer.address);
    expect((await call(`${hiding.url}/phone`)).body["unverified"]).to.equal("hide");
  });

  it("limits lookups per address, per range, and per range by address", async () => {
    const ask = async (limited: TestRegistry, phone: string) => {
      const answer = await limited.resolve(phone);
      if (answer.status === 429) expect(Number(answer.headers.get("retry-after"))).to.be.above(0);
      return answer.body["code"];
    };
    const numbers = (start: number, count: number) =>
      Array.from({ length: count }, (_, index) => `+49151${String(20_000_000 + start + index)}`);
    for (const [setting, limit, phones] of [
      ["SOTTO_PHONE_LOOKUPS_CLIENT", "3/600", [...numbers(0, 2), ...numbers(10_000, 2)]],
      ["SOTTO_PHONE_LOOKUPS_RANGE", "3/600", numbers(0, 4)],
      ["SOTTO_PHONE_LOOKUPS_CLIENT_RANGE", "3/600", numbers(0, 4)],
    ] as const) {
      const limited = closedAfterTest(await openTestRegistry({ [setting]: limit }, { clock: clockWithin(600_000) }));
      const codes = [];
      for (const phone of phones) codes.push(await ask(limited, phone));
      expect(codes, setting).to.deep.equal([...Array(3).fill("UNKNOWN_NUMBER"), "LOOKUPS_LIMITED"]);
      // Another range is not limited, unless the limit is per address.
      const elsewhere = setting === "SOTTO_PHONE_LOOKUPS_CLIENT" ? "LOOKUPS_LIMITED" : "UNKNOWN_NUMBER";
      expect(await ask(limited, "+4915155555555"), setting).to.equal(elsewhere);
    }
  });

  it("shows enumeration in its metrics, but no number", async () => {
    const watched = closedAfterTest(
      await openTestRegistry({ SOTTO_PHONE_LOOKUPS_CLIENT: "20/600" }, { clock: clockWithin(600_000) }),
    );
    for (let index = 0; index < 10; index += 1) await watched.resolve(newNumber());
    const metrics = await (await fetch(`${new URL(watched.url).origin}/metrics`)).text();
    expect(metrics).to.include('sotto_phone_operations_total{operation="resolve",outcome="unknown"} 10');
    expect(metrics).to.match(/^sotto_phone_unknown_share 1$/m);
    expect(metrics).to.match(/^sotto_phone_quota_use\{scope="client"\} 0\.5$/m);
    expect(metrics)
      .to.include('route="/zk/phone/resolve/:phone"')
      .and.not.match(/49151\d/);
  });
});
