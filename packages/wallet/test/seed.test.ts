import { rejection, thrown } from "@sotto/test-kit/rejection";
import { createSeedWords, seedFromAccount, seedFromWords, wordsFromSeed } from "@sotto/wallet";
import { expect } from "chai";
import { Wallet as Account, Signature, type Signer } from "ethers";
import { assertSeed } from "../src/seed.ts";

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex");

describe("seed words", () => {
  it("are 24 random words that restore the seed", () => {
    const words = createSeedWords();
    expect(words.split(" ")).to.have.length(24);
    expect(createSeedWords()).not.to.equal(words);
    expect(seedFromWords(words)).to.have.length(32);
    expect(wordsFromSeed(seedFromWords(words))).to.equal(words);
  });

  it("follow the BIP-39 test vectors", () => {
    // Trezor's BIP-39 test vectors, for the entropy 8080..80 and f585..438f.
    const repeated = `${"letter advice cage absurd amount doctor acoustic avoid ".repeat(2)}letter advice cage absurd amount doctor acoustic bless`;
    expect(hex(seedFromWords(repeated))).to.equal("80".repeat(32));
    expect(
      hex(
        seedFromWords(
          "void come effort suffer camp survey warrior heavy shoot primary clutch crush open amazing screen patrol group space point ten exist slush involve unfold",
        ),
      ),
    ).to.equal("f585c11aec520db57dd353c69554b21a89b20fb0650966fa0a9d6f74fd989d8f");
  });

  it("are parsed regardless of case and white space", () => {
    const words = createSeedWords();
    const untidy = `  ${words.toUpperCase().replaceAll(" ", "\n\t ")} \n`;
    expect(seedFromWords(untidy)).to.deep.equal(seedFromWords(words));
  });

  it("are parsed with invisible characters around words", () => {
    const words = createSeedWords();
    const pasted = `\ufeff\u202a${words.replaceAll(" ", "\u200b\u00a0")}\u202c\u200e`;
    expect(seedFromWords(pasted)).to.deep.equal(seedFromWords(words));
    const inside = `${words.slice(0, 2)}\u200b${words.slice(2)}`;
    expect(thrown(() => seedFromWords(inside)).message).to.contain("word 1");
  });

  it("are rejected with the reason, without repeating the words", () => {
    // A fixed phrase, because 1 in 256 wrong phrases has a valid checksum and opens another wallet.
    const words = wordsFromSeed(new Uint8Array(32).map((_, i) => 7 * i + 1)).split(" ");
    const refuse = (text: string) => {
      const error = thrown(() => seedFromWords(text));
      expect(error.code).to.equal("INVALID_WORDS");
      return error.message;
    };
    expect(refuse(words.slice(1).join(" "))).to.match(/24 words, got 23/);
    const misspelt = refuse(words.with(4, "sekret").join(" "));
    expect(misspelt).to.match(/word 5 /);
    expect(misspelt).not.to.include("sekret");
    for (const at of [0, 23]) expect(refuse(words.with(at, "zoo").join(" "))).to.match(/checksum/);
    expect(refuse(undefined as unknown as string)).to.match(/24 words/);
  });

  it("are not made from an invalid seed", () => {
    for (const seed of [new Uint8Array(31), new Uint8Array(32), new Uint8Array(32).fill(7), "00" as never])
      expect(thrown(() => assertSeed(seed)).code).to.equal("INVALID_KEY");
    expect(thrown(() => wordsFromSeed(new Uint8Array(16))).code).to.equal("INVALID_KEY");
  });
});

describe("seed from an EIP-712 signature", () => {
  const account = new Account(`0x${"11".repeat(32)}`);
  const signer = (change: (signature: string, call: number) => string | Promise<string>) => {
    let calls = 0;
    return {
      getAddress: () => account.getAddress(),
      signTypedData: async (...args: Parameters<Signer["signTypedData"]>) => {
        calls += 1;
        return change(await account.signTypedData(...args), calls);
      },
    };
  };

  it("is reproducible and differs by account", async () => {
    const seed = await seedFromAccount(account);
    expect(seed).to.have.length(32);
    expect(await seedFromAccount(account)).to.deep.equal(seed);
    expect(await seedFromAccount(new Account(`0x${"22".repeat(32)}`))).not.to.deep.equal(seed);
    // A known-answer test: if the text or the derivation changed, users would lose their funds.
    expect(hex(seed)).to.equal("2a924e14cc84957d58788b6444372b96d8b46913c6df5af1837106a0d614ef42");
  });

  it("does not depend on the encoding of v", async () => {
    const zeroOne = signer((signature) => {
      const v = Number.parseInt(signature.slice(130), 16) - 27;
      return `${signature.slice(0, 130)}0${v}`;
    });
    expect(await seedFromAccount(zeroOne)).to.deep.equal(await seedFromAccount(account));
  });

  it("rejects a nondeterministic signer, a high s, another account's and a contract's signature", async () => {
    const code = async (change: Parameters<typeof signer>[0]) => {
      const error = await rejection(seedFromAccount(signer(change)));
      expect(error.code).to.equal("INVALID_SIGNATURE");
      return error.message;
    };
    const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
    const high = (text: string) => {
      const { r, s, v } = Signature.from(text);
      return `${r}${(order - BigInt(s)).toString(16).padStart(64, "0")}${v === 27 ? "1c" : "1b"}`;
    };
    expect(await code((text) => high(text))).to.match(/lower half/);
    expect(await code((text) => `${text}00`)).to.match(/65 bytes/);
    const stranger = new Account(`0x${"33".repeat(32)}`);
    expect(await code(() => stranger.signMessage("x"))).to.match(/expected 0x/);
    // Two valid but different signatures: from a signer with random nonces, or for different texts.
    expect(await code((text, call) => (call === 1 ? text : account.signMessage("x")))).to.match(/differently/);
  });
});
