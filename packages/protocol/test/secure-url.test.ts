import { expect } from "chai";
import { isSecureUrl } from "../src/index.ts";

const CHAIN = 8453n;

describe("secure URLs", () => {
  it("must be https or this machine, on every chain", () => {
    for (const url of [
      "https://pay.example/zk",
      "HTTPS://pay.example",
      "http://127.0.0.1:3000/",
      "http://127.9.9.9/",
      "http://localhost/",
      "http://LOCALHOST:80/zk",
      "http://merchant.localhost:8080/",
      "http://[::1]:80/",
      // The URL standard parses it as 127.0.0.1.
      "http://2130706433/",
    ]) {
      expect(isSecureUrl(url, CHAIN), url).to.equal(true);
      expect(isSecureUrl(url), url).to.equal(true);
    }
  });

  it("are never plain http to other hosts, private networks or look-alikes of this machine", () => {
    for (const url of [
      "http://pay.example/zk",
      "http://10.0.0.1/",
      "http://192.168.1.7:8402/zk",
      "http://service:8402/zk",
      "http://169.254.1.1/",
      "http://[fe80::1]/",
      "http://[::2]/",
      "http://0.0.0.0/",
      "http://128.0.0.1/",
      "http://127.0.0.1.pay.example/",
      "http://localhost.pay.example/",
      "http://notlocalhost/",
      "http://127.0.0.1@pay.example/",
      "http://pay.example/#http://localhost/",
      "ftp://localhost/",
      "javascript:alert(1)",
      "pay.example",
      "",
      undefined,
      7,
    ]) {
      expect(isSecureUrl(url, CHAIN), String(url)).to.equal(false);
      expect(isSecureUrl(url), String(url)).to.equal(false);
    }
  });

  it("include plain http on a local chain", () => {
    for (const chain of [31337n, 1337n]) {
      expect(isSecureUrl("http://service:8402/zk", chain)).to.equal(true);
      expect(isSecureUrl("ftp://service/zk", chain)).to.equal(false);
    }
    expect(isSecureUrl("http://service:8402/zk", 313370n)).to.equal(false);
  });
});
