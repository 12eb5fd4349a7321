import { expect } from "chai";
import {
  createX402Listing,
  MAX_X402_LISTING_BYTES,
  X402_PRIVACY_EXTENSION,
  X402_SCHEME_PRIVACY,
  type X402ListingOptions,
  x402ListingTexts,
} from "../src/x402.ts";

const OPTIONS: X402ListingOptions = { method: "GET", description: "The weather" };
const create = (changes: object) => createX402Listing({ ...OPTIONS, ...changes } as X402ListingOptions);

describe("a listing", () => {
  it("describes the query of a GET and the body of a POST", () => {
    const example = { city: "Bern" };
    const get = create({ input: { example }, output: { example: { degrees: 7 } } }).extensions.bazaar;
    expect(get.info).to.deep.equal({
      input: { type: "http", method: "GET", queryParams: example },
      output: { type: "json", example: { degrees: 7 } },
    });
    const post = create({ method: "POST", input: { example }, routeTemplate: "/city/:id" }).extensions.bazaar;
    expect(post.info).to.deep.equal({ input: { type: "http", method: "POST", bodyType: "json", body: example } });
    expect(post.routeTemplate).to.equal("/city/:id");
  });

  it("states that payments are shielded", () => {
    expect(create({}).extensions.privacy).to.equal(X402_PRIVACY_EXTENSION);
    expect(X402_SCHEME_PRIVACY).to.deep.equal({
      ...{ class: "shielded", amount: "hidden", payer: "hidden", recipient: "hidden" },
    });
  });

  it("contains the texts from its options", () => {
    const texts = {
      description: "The weather",
      serviceName: "Weather",
      tags: ["a", "b"],
      iconUrl: "https://a.example/i",
    };
    const { extensions: _, ...found } = create(texts);
    expect(found).to.deep.equal({ ...texts, mimeType: "application/json" });
  });

  const wrong: Readonly<Record<string, object>> = {
    "another method": { method: "DELETE" },
    "no description": { description: undefined },
    "an empty description": { description: "" },
    "a long description": { description: "a".repeat(501) },
    "control characters": { description: "a\u0007" },
    "text that runs backwards": { description: "a\u202E" },
    "a content type with parameters": { mimeType: "text/html; charset=utf-8" },
    "a long name": { serviceName: "a".repeat(33) },
    "a name that is not ASCII": { serviceName: "Zürich" },
    "six tags": { tags: ["1", "2", "3", "4", "5", "6"] },
    "an empty tag": { tags: [""] },
    "an icon over http": { iconUrl: "http://a.example/i" },
    "an icon that is a script": { iconUrl: "javascript:alert(1)" },
    "an icon on this machine": { iconUrl: "https://localhost/i" },
    "an icon at an address": { iconUrl: "https://192.0.2.1/i" },
    "an icon behind a password": { iconUrl: "https://u:p@a.example/i" },
    "a template of another host": { routeTemplate: "//evil.example/:id" },
    "a template with a parent folder": { routeTemplate: "/a/../b" },
    "a large example": { output: { example: "a".repeat(MAX_X402_LISTING_BYTES) } },
    "a deep example": { input: { example: { a: { a: { a: { a: { a: { a: { a: { a: {} } } } } } } } } } },
  };
  for (const [name, changes] of Object.entries(wrong))
    it(`is refused with ${name}`, () => {
      expect(() => create(changes))
        .to.throw()
        .with.property("code", "X402_LISTING_INVALID");
    });

  it("is refused unless it is an object", () => {
    for (const value of [undefined, null, "GET"])
      expect(() => createX402Listing(value as never))
        .to.throw()
        .with.property("code", "X402_LISTING_INVALID");
  });
});

describe("the texts of x402's resource", () => {
  it("are kept only if they follow its rules", () => {
    expect(x402ListingTexts({ description: "ok", serviceName: 7, tags: "no", iconUrl: {} })).to.deep.equal({
      description: "ok",
    });
    for (const value of [undefined, null, "text", 7, []]) expect(x402ListingTexts(value)).to.deep.equal({});
  });
});
