import { thrown } from "@sotto/test-kit/rejection";
import { expect } from "chai";
import { parseOptions } from "../src/fetch/options.ts";
import { assertSecure } from "../src/fetch/secure.ts";

const CHAIN = 1n;

describe("secure addresses", () => {
  it("are https URLs, this machine, or any address on a local chain", () => {
    for (const url of [
      "https://data.example/",
      "http://127.0.0.1:3000/",
      "http://127.9.9.9/",
      "http://localhost/",
      "http://merchant.localhost:8080/",
      "http://[::1]:80/",
      // The URL standard parses it as 127.0.0.1.
      "http://2130706433/",
    ])
      assertSecure(new URL(url), CHAIN);
    assertSecure(new URL("http://data.example/"), 31337n);
  });

  it("are required for phone registries too, because an intermediary could replace the recipient", () => {
    const services = ["https://pay.example/zk"];
    const check = (phoneRegistry: string, chain = CHAIN) =>
      parseOptions({ services, maxPerRequest: 1n, phoneRegistry }, chain).registry;
    expect(thrown(() => check("http://phones.example/")).code).to.equal("ORIGIN_NOT_SECURE");
    expect(check("https://phones.example/")).to.equal("https://phones.example");
    expect(check("http://phones.example", 31337n)).to.equal("http://phones.example");
  });

  it("are never plain http on other chains", () => {
    for (const url of [
      "http://data.example/",
      "http://127.0.0.1.data.example/",
      "http://localhost.data.example/",
      "http://notlocalhost/",
      "http://10.0.0.1/",
      "http://128.0.0.1/",
      "http://[::2]/",
      "ftp://data.example/",
    ])
      expect(thrown(() => assertSecure(new URL(url), CHAIN)).code, url).to.equal("ORIGIN_NOT_SECURE");
  });
});
