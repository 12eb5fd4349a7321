// node scripts/generate/documents.ts [--check]: writes the parts of the documents that repeat the sources. It needs the
// built packages.

import { FIGURE_PAGES } from "@sotto/bench/record/performance";
import { runGenerators } from "@sotto/keys/generate/generated-file";
import { generateCertifyPicture } from "./certify-picture.ts";
import { generateChainProperties } from "./chains.ts";
import { generateCuratorSettings } from "./curator.ts";
import { generateErrors, generateExits, generateStatuses } from "./errors.ts";
import { generateMppVectors } from "./mpp.ts";
import { generatePurchase } from "./purchase.ts";
import { generateOpenApi, generateSettings } from "./service.ts";
import { generateX402Vectors } from "./x402.ts";

await runGenerators(
  generateErrors,
  generateStatuses,
  generateExits,
  generateOpenApi,
  generateSettings,
  generateCuratorSettings,
  generateChainProperties,
  generateX402Vectors,
  generateMppVectors,
  ...FIGURE_PAGES,
  generateCertifyPicture,
  generatePurchase,
);
