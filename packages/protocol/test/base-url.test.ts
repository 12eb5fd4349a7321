import { expect } from "chai";
import { baseUrl, MAX_URL_LENGTH } from "../src/index.ts";

describe("base URLs", () => {
  it("are equal for every spelling of one server's address", () => {
    for (const written of ["https://Pay.Example/zk", "HTTPS://pay.example:443/zk//", "https://pay.example/./zk/"])
      expect(baseUrl(written), written).to.equal("https://pay.example/zk");
    expect(baseUrl("http://127.0.0.1:8402/")).to.equal("http://127.0.0.1:8402");
    expect(baseUrl("https://päy.example/zk")).to.equal("https://xn--py-via.example/zk");
  });

  it("are parsed without invisible characters around them, and rejected with one within", () => {
    for (const written of [
      "\u202ahttps://pay.example/zk\u202c",
      "https://pay.example/zk\u200b",
      "\ufeffhttps://pay.example/zk\n",
    ])
      expect(baseUrl(written), written).to.equal("https://pay.example/zk");
    for (const wrong of [
      "https://pay\u00ad.example/zk",
      "https://pay.example/z\u200bk",
      "https://pay.example/\u202ezk",
    ])
      expect(baseUrl(wrong), wrong).to.equal(undefined);
  });

  it("differ by path, case of the path, scheme and port", () => {
    const others = [
      "https://pay.example/ZK",
      "http://pay.example/zk",
      "https://pay.example:8443/zk",
      "https://pay.example",
    ];
    expect(new Set(["https://pay.example/zk", ...others].map(baseUrl)).size).to.equal(others.length + 1);
  });

  it("are rejected with a query, fragment or user, or if not http(s)", () => {
    const strange = ["", "pay.example", "/zk", "ftp://pay.example", "javascript:alert(1)", undefined, null, 7, {}];
    const more = ["?x=1", "#x"].map((end) => `https://pay.example/zk${end}`);
    const long = `https://pay.example/${"z".repeat(MAX_URL_LENGTH)}`;
    for (const wrong of [...strange, ...more, long, "https://user@pay.example/zk", "https://:word@pay.example/zk"])
      expect(baseUrl(wrong), String(wrong).slice(0, 40)).to.equal(undefined);
  });
});
