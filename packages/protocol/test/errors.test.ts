import { expect } from "chai";
import { defineErrors, SottoError } from "../src/index.ts";

const TeaError = defineErrors("TeaError", {
  NO_COFFEE: { means: "The pot makes tea only.", exit: "refused", http: 418, remedy: "ask for tea" },
  TOO_HOT: { means: "The tea is too hot to drink." },
});
type TeaError = InstanceType<typeof TeaError>;

/** A class beside it that shares a code. */
const CupError = defineErrors("CupError", { TOO_HOT: TeaError.definitions.TOO_HOT });

describe("defineErrors", () => {
  it("makes a subclass of SottoError with the name, the code, the details and the cause it is given", () => {
    const cause = new Error("why");
    const error: TeaError = new TeaError("NO_COFFEE", "coffee was asked for", { cups: 2 }, { cause });
    expect(error).to.be.instanceOf(TeaError);
    expect(error).to.be.instanceOf(SottoError);
    expect(error).to.be.instanceOf(Error);
    expect(TeaError).to.have.property("name", "TeaError");
    expect([error.name, error.code, error.message, error.details["cups"], error.cause]).to.deep.equal([
      "TeaError",
      "NO_COFFEE",
      "coffee was asked for",
      2,
      cause,
    ]);
    expect(String(error)).to.equal("TeaError: coffee was asked for");
  });

  it("gives each error the definition of its code", () => {
    expect(new TeaError("NO_COFFEE", "").definition).to.deep.equal({
      means: "The pot makes tea only.",
      exit: "refused",
      http: 418,
      remedy: "ask for tea",
    });
    expect(new TeaError("TOO_HOT", "").definition).to.equal(CupError.definitions.TOO_HOT);
    expect(Object.keys(TeaError.definitions)).to.deep.equal(["NO_COFFEE", "TOO_HOT"]);
  });

  it("tells its own errors from those of another class with the same code", () => {
    expect(new CupError("TOO_HOT", "")).not.to.be.instanceOf(TeaError);
  });

  it("can be subclassed", () => {
    class Spilled extends TeaError {
      readonly drops: number;
      constructor(drops: number) {
        super("TOO_HOT", `${drops} drops were spilled`);
        this.drops = drops;
      }
    }
    const error = new Spilled(3);
    expect(error).to.be.instanceOf(TeaError);
    expect([error.name, error.drops, error.definition.means]).to.deep.equal([
      "TeaError",
      3,
      "The tea is too hot to drink.",
    ]);
  });

  it("refuses at compile time a code that it does not define", () => {
    // @ts-expect-error NO_SUGAR is not a code of TeaError.
    const error = new TeaError("NO_SUGAR", "");
    expect(error.definition).to.equal(undefined);
    // @ts-expect-error A property of every object is not a code either.
    expect(new TeaError("toString", "").definition).to.equal(undefined);
  });
});

describe("SottoError.withMessage", () => {
  it("keeps the code, the details and the definition, and makes the first error the cause", () => {
    const error = new TeaError("NO_COFFEE", "first", { cups: 2 });
    const reworded = error.withMessage("second");
    expect(reworded).to.be.instanceOf(SottoError);
    expect([reworded.code, reworded.message, reworded.details, reworded.cause]).to.deep.equal([
      "NO_COFFEE",
      "second",
      { cups: 2 },
      error,
    ]);
    expect(reworded.definition).to.equal(error.definition);
    expect(reworded.withMessage("third").definition).to.equal(error.definition);
  });

  it("works for an error without a definition", () => {
    expect(new SottoError("WHATEVER", "first").withMessage("second").definition).to.equal(undefined);
  });
});
