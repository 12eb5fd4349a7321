import { CLIENT_ERRORS } from "@sotto/client";
import { EVIDENCE_ERRORS } from "@sotto/origins/evidence";
import { PREPAID_ERRORS } from "@sotto/prepaid/client";
import { expect } from "chai";
import { WEB_ERRORS } from "../src/error-definitions.ts";
import { explain } from "../src/lib/help.ts";

describe("explanations of errors", () => {
  it("exist for every code of the wallet and the app, without the parts meant for programs", () => {
    for (const code of Object.keys({ ...CLIENT_ERRORS, ...PREPAID_ERRORS, ...EVIDENCE_ERRORS, ...WEB_ERRORS }))
      expect(explain(code)?.means, code)
        .to.match(/^[A-Z][^`]+\.$/)
        .and.not.match(/details?\b/i);
  });

  it("do not exist for codes defined by other programs", () => {
    for (const code of ["", "constructor", "__proto__", "FUNNY"]) expect(explain(code)).to.equal(undefined);
  });
});
