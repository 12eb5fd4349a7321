// Code of the worker thread that reads listings.
import { parentPort, workerData } from "node:worker_threads";
import type { ServedDeployment } from "../x402/request.ts";
import { assertListed, readListing } from "./listing.ts";
import { NotListed } from "./listing-key.ts";
import type { ReaderReply, ReaderRequest } from "./reader.ts";

const served = workerData as ServedDeployment;

function answer(request: ReaderRequest): ReaderReply {
  try {
    if ("item" in request) assertListed(request.item);
    else return { listing: readListing(request.due, request.answer, served) };
    return {};
  } catch (error) {
    if (error instanceof NotListed) return { notListed: error.message };
    throw error;
  }
}

parentPort?.on("message", (request: ReaderRequest) => parentPort?.postMessage(answer(request)));
parentPort?.postMessage("ready");
