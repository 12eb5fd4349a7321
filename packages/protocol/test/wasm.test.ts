import { spawnSync } from "node:child_process";
import { expect } from "chai";
import fc from "fast-check";
import { climbWithBigInts, climbWithWasm } from "../src/curve/ladder.ts";
import { invertFields } from "../src/field.ts";
import { BASE8, multiplyPoint, packPoint, poseidonEx, toField } from "../src/index.ts";
import { permuteWithBigInts } from "../src/poseidon/permute-bigint.ts";
import { permuteWithWasm } from "../src/poseidon/permute-wasm.ts";
import { type FieldEngine, fieldEngine } from "../src/wasm/engine.ts";
import { ELEMENT } from "../src/wasm/limb-code.ts";
import { field, runs } from "./support/arbitraries.ts";

const engine = fieldEngine() as FieldEngine;
const { program } = engine;
const room = engine.allocate(6);
const [a, b, c, d, e] = [1, 2, 3, 4, 5].map((index) => room + index * ELEMENT) as [
  number,
  number,
  number,
  number,
  number,
];

describe("field arithmetic in WebAssembly", () => {
  it("is available in this runtime", () => {
    expect(engine).to.not.equal(null);
  });

  it("writes and reads every element", () => {
    fc.assert(
      fc.property(field, (x) => {
        engine.write(a, [x]);
        expect(engine.read(a)).to.equal(x);
      }),
      runs(200),
    );
  });

  it("agrees with bigints, also on sums and differences as operands", () => {
    fc.assert(
      fc.property(field, field, (x, y) => {
        engine.write(a, [x, y]);
        program.mul(c, a, b);
        expect(engine.read(c)).to.equal(toField(x * y));
        program.sqr(c, a);
        expect(engine.read(c)).to.equal(toField(x * x));
        program.add(c, a, b);
        expect(engine.read(c)).to.equal(toField(x + y));
        program.sub(d, a, b);
        program.mul(e, c, d);
        expect(engine.read(e)).to.equal(toField((x + y) * (x - y)));
        program.sqr(e, d);
        expect(engine.read(e)).to.equal(toField((x - y) ** 2n));
        program.add(c, c, c);
        program.sqr(e, c);
        expect(engine.read(e)).to.equal(toField(4n * (x + y) ** 2n));
        program.mul(e, d, d);
        expect(engine.read(e)).to.equal(toField((x - y) ** 2n));
        program.addsub(c, a, b);
        program.mul(e, c, d);
        expect(engine.read(e)).to.equal(toField((x + y) * (x - y)));
        program.mul2(e, a, b, b, b);
        expect(engine.read(e)).to.equal(toField(x * y + y * y));
      }),
      runs(300),
    );
  });

  it("stays exact over long chains of additions, subtractions and products", () => {
    fc.assert(
      fc.property(field, field, (x, y) => {
        engine.write(a, [x, y]);
        let [p, q] = [x, y];
        for (let i = 0; i < 50; i++) {
          program.sub(c, a, b);
          program.add(d, a, b);
          program.mul(a, c, d);
          program.sqr(b, c);
          [p, q] = [toField((p - q) * (p + q)), toField((p - q) ** 2n)];
        }
        expect([engine.read(a), engine.read(b)]).to.deep.equal([p, q]);
      }),
      runs(20),
    );
  });

  it("permutes like bigints at every width and number of outputs", () => {
    const states = fc
      .integer({ min: 2, max: 17 })
      .chain((width) => fc.array(field, { minLength: width, maxLength: width }));
    fc.assert(
      fc.property(states, (state) => {
        for (const outputs of [1, state.length - 1, state.length]) {
          expect(permuteWithWasm(engine, state, outputs)).to.deep.equal(permuteWithBigInts(state, outputs));
        }
      }),
      runs(40),
    );
  });

  it("agrees with bigints on each step of the ladder, up to a common factor", () => {
    const bits = fc.bigInt({ min: 0n, max: (1n << 251n) - 1n }).map((k) => k.toString(2));
    const affine = ([u0, w0, u1, w1]: readonly bigint[]) => {
      const [inverse0, inverse1] = invertFields([toField(w0!), toField(w1!)]) as [bigint, bigint];
      return [toField(u0! * inverse0), toField(u1! * inverse1), toField(w0!) === 0n, toField(w1!) === 0n];
    };
    fc.assert(
      fc.property(
        field.filter((u) => u !== 0n),
        bits,
        (u, k) => {
          const base = { u, a24: 42175n };
          expect(affine(climbWithWasm(engine, base, k))).to.deep.equal(affine(climbWithBigInts(base, k)));
        },
      ),
      runs(10),
    );
  });
});

describe("without WebAssembly", () => {
  it("bigints give the same results", () => {
    // Runs in a separate process. Node needs WebAssembly to strip the modules' types, so remove it after loading them.
    const script = `
      const sotto = await import(${JSON.stringify(new URL("../src/index.ts", import.meta.url).href)});
      const { fieldEngine } = await import(${JSON.stringify(new URL("../src/wasm/engine.ts", import.meta.url).href)});
      delete globalThis.WebAssembly;
      const point = sotto.multiplyPoint(sotto.BASE8, 77n);
      console.log(fieldEngine(), sotto.poseidonEx([1n, 2n, 3n], 3, 5).join(), sotto.isInSubgroup(point), sotto.packPoint(point));
    `;
    const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8" });
    const hash = poseidonEx([1n, 2n, 3n], 3, 5).join();
    expect(stdout, stderr).to.match(new RegExp(`^null ${hash} true ${packPoint(multiplyPoint(BASE8, 77n))}\\n$`));
  });
});
