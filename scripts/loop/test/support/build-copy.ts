// node build-copy.ts, in a copy of the checkout whose circuits changed: compiles them, makes development keys and writes
// all that is generated, as `npm run circuits:build` does, without the circuits' own tests.

import { compileOnly } from "@sotto/keys/circuits/compile";
import { circuitNames } from "@sotto/keys/circuits/paths";
import { generateCircuits } from "@sotto/keys/generate/circuits";
import { generate } from "@sotto/keys/generate/generated-file";
import { makeDevelopmentSet } from "@sotto/keys/setup/development-set";
import { generators } from "../../../generate/generators.ts";
import { writeCounts } from "../../counts.ts";
import { buildContracts, generateSources } from "../../steps.ts";

writeCounts(await compileOnly(circuitNames));
await generate([generateCircuits], false);
await makeDevelopmentSet(circuitNames, false);
await generate(generators, false);
await buildContracts();
// The ABI follows from the contracts.
await generateSources();
