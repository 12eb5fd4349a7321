import { MAX_X402_LISTING_BYTES } from "@sotto/protocol/x402";
import { expect } from "chai";
import { readListing } from "../../src/discovery/listing.ts";
import { listingKeyOf, NotListed } from "../../src/discovery/listing-key.ts";
import { accepts, encoded, LISTING, required, SERVED, WALLET } from "./support/required.ts";

const URL_ = "https://data.example/weather";
const KEY = { url: URL_, method: "GET" };
const read = (changes: Record<string, unknown> = {}) =>
  readListing(KEY, { status: 402, required: encoded(required(URL_, changes)) }, SERVED);
const bazaar = (changes: Record<string, unknown>) => ({
  extensions: { bazaar: { ...LISTING.extensions.bazaar, ...changes } },
});

describe("the resource of a payment", () => {
  const keyOf = (resource: string, changes: Record<string, unknown> = {}) =>
    listingKeyOf(bazaar(changes).extensions, resource, false);

  it("is its URL without query, or with the template of its path", () => {
    expect(keyOf(`${URL_}?name=alice#top`)).to.deep.equal(KEY);
    expect(keyOf("https://data.example/users/alice", { routeTemplate: "/users/:id" })).to.deep.equal({
      ...KEY,
      url: "https://data.example/users/:id",
    });
    expect(listingKeyOf({ other: {} }, URL_, false)).to.equal(undefined);
    expect(listingKeyOf("bazaar", URL_, false)).to.equal(undefined);
  });

  it("ignores a template that is not a path", () => {
    for (const routeTemplate of ["users/:id", "//evil.example/", "/../admin", "/a/%2e%2e/b", "https://evil.example", 7])
      expect(keyOf(URL_, { routeTemplate }), String(routeTemplate)).to.deep.equal(KEY);
  });

  it("must be https, on a host with a name, on the default port", () => {
    const refused = [
      ...["javascript:alert(1)", "data:text/html,hi", "file:///etc/passwd", "http://data.example/", "not a URL"],
      ...[
        "https://127.0.0.1/",
        "https://2130706433/",
        "https://0x7f000001/",
        "https://[::1]/",
        "https://[::ffff:7f00:1]/",
      ],
      ...["https://user:pass@data.example/", "https://data.example:8443/"],
    ];
    for (const resource of refused) expect(() => keyOf(resource), resource).to.throw(NotListed);
    expect(() => listingKeyOf(bazaar({}).extensions, "javascript:alert(1)", true)).to.throw(NotListed);
  });

  it("has the method GET or POST", () => {
    for (const input of [{ type: "http", method: "DELETE" }, { type: "mcp", tool: "a" }, { type: "http" }, "GET"])
      expect(() => keyOf(URL_, { info: { input } }), JSON.stringify(input)).to.throw(NotListed);
  });
});

describe("the listing of a 402", () => {
  it("contains the host's texts, and the requirements without challenge and signature", () => {
    const { key, payTo, item } = read();
    expect([key, payTo]).to.deep.equal([KEY, WALLET]);
    expect(item).to.deep.include({ resource: URL_, description: "The weather", tags: ["weather"] });
    const [terms] = item.accepts;
    expect(JSON.stringify(terms)).to.not.match(/zk_req|1111|shielded/);
    expect(terms!.extra).to.include({ resource: URL_ });
  });

  it("is refused unless the host answers 402 for this resource and service", () => {
    const answers: Record<string, { status: number; required?: string | undefined }> = {
      ok: { status: 200, required: encoded(required(URL_)) },
      redirect: { status: 302, required: encoded(required(URL_)) },
      "no header": { status: 402 },
      "no JSON": { status: 402, required: "%%%" },
      "an array": { status: 402, required: encoded([]) },
      "version 1": { status: 402, required: encoded(required(URL_, { x402Version: 1 })) },
      "duplicate keys": { status: 402, required: Buffer.from('{"x402Version":2,"x402Version":2}').toString("base64") },
      "nested deeply": { status: 402, required: Buffer.from("[".repeat(10_000)).toString("base64") },
    };
    for (const [name, answer] of Object.entries(answers))
      expect(() => readListing(KEY, { required: undefined, ...answer }, SERVED), name).to.throw(NotListed);
    const foreign = [
      [],
      "accepts",
      [accepts("https://data.example/other")],
      [accepts("https://evil.example/weather")],
      [accepts(URL_, { scheme: "exact" })],
      [accepts(URL_, { network: "eip155:1" })],
      [accepts(URL_, { asset: WALLET })],
      [accepts(URL_, { amount: "0" })],
      [accepts(URL_, { extra: { ...accepts(URL_).extra, service: "https://other.example/zk" } })],
    ];
    for (const list of foreign) expect(() => read({ accepts: list }), JSON.stringify(list)).to.throw(NotListed);
    expect(read({ accepts: [...foreign[3]!, accepts(URL_)] }).item.accepts).to.have.lengthOf(1);
  });

  it("has requirements of one recipient only, and at most four", () => {
    const other = accepts(URL_, { payTo: `0x${"55".repeat(20)}` });
    expect(read({ accepts: [accepts(URL_), other] }).item.accepts.map(({ payTo }) => payTo)).to.deep.equal([WALLET]);
    expect(read({ accepts: Array.from({ length: 30 }, () => accepts(URL_)) }).item.accepts).to.have.lengthOf(4);
  });

  it("is refused if its extension is malformed, too large, too deep or does not match its schema", () => {
    const { info, schema } = LISTING.extensions.bazaar;
    const large = { ...info, output: { type: "json", example: "x".repeat(MAX_X402_LISTING_BYTES) } };
    let deep: object = {};
    for (let level = 0; level < 13; level += 1) deep = { deep };
    const input = (info as { input: object }).input;
    const malformed: Record<string, unknown>[] = [
      { info: undefined },
      { info: "text" },
      { info: { input: { type: "http", method: "POST" } } },
      { schema: undefined },
      { schema: [] },
      { info: large },
      { info: { input, output: deep } },
      { info: { input: { ...input, surprise: 1 } } },
      { schema: { type: "string" } },
      { schema: { ...schema, $ref: "https://evil.example/schema.json" } },
      { schema: { ...schema, properties: { input: { $ref: "file:///etc/passwd" } } } },
      { schema: { ...schema, $id: "https://evil.example" } },
      { schema: { ...schema, $recursiveRef: "https://evil.example" } },
    ];
    for (const changes of malformed)
      expect(() => read(bazaar(changes)), JSON.stringify(changes).slice(0, 200)).to.throw(NotListed);
    expect(() => read({ extensions: {} })).to.throw(NotListed);
  });

  it("keeps keywords of its schema that are not evaluated", () => {
    const schema = { type: "object", properties: { input: {}, output: { format: "email" } }, $ref: "#" };
    const listed = read(bazaar({ schema })).item.extensions as { bazaar: { schema: object } };
    expect(listed.bazaar.schema).to.deep.equal(schema);
  });

  it("leaves out texts that break x402's rules", () => {
    const hostile = {
      description: "a\u202Eb",
      mimeType: "<script>",
      serviceName: "n".repeat(33),
      tags: ["ok", "OK", "\u0000", 7, "x".repeat(33), "two", "three", "four", "five", "six"],
      iconUrl: "javascript:alert(1)",
    };
    const { description, mimeType, serviceName, tags, iconUrl } = read({ resource: hostile }).item;
    expect({ description, mimeType, serviceName, iconUrl }).to.deep.equal({
      ...{ description: undefined, mimeType: undefined, serviceName: undefined, iconUrl: undefined },
    });
    expect(tags).to.deep.equal(["ok", "two", "three", "four", "five"]);
    for (const icon of [
      "https://localhost/a",
      "https://10.0.0.1/a",
      "http://data.example/a",
      "https://u@data.example/a",
    ])
      expect(read({ resource: { iconUrl: icon } }).item, icon).to.not.have.property("iconUrl");
    expect(read({ resource: { iconUrl: "https://data.example/a.png" } }).item).to.have.property("iconUrl");
  });

  it("uses the template of its path as the key", () => {
    const { key } = read(bazaar({ routeTemplate: "/weather/:city" }));
    expect(key).to.deep.equal({ url: "https://data.example/weather/:city", method: "GET" });
  });
});
