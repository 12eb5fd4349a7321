// node build-copy.ts, in a copy of the checkout whose circuits changed: compiles them, makes development keys and writes
// all that is generated, as `npm run circuits:build` does, without the circuits' own tests.
import { generateCircuits } from "../../../generate/circuits.ts";
import { generate } from "../../../generate/generated-file.ts";
import { generators } from "../../../generate/generators.ts";
import { makeDevelopmentSet } from "../../../setup/development-set.ts";
import { compileOnly } from "../../compile.ts";
import { writeCounts } from "../../loop/counts.ts";
import { buildContracts, generateSources } from "../../loop/steps.ts";
import { circuitNames } from "../../paths.ts";

writeCounts(await compileOnly(circuitNames));
await generate([generateCircuits], false);
await makeDevelopmentSet(circuitNames, false);
await generate(generators, false);
await buildContracts();
// The ABI follows from the contracts.
await generateSources();
