#!/usr/bin/env node
import cluster from 'node:cluster';
import { runCli } from './cli/run-cli.ts';
import { runWorkerProcess } from './cluster/run-worker-process.ts';

if (cluster.isWorker) runWorkerProcess();
else process.exit(await runCli(process.argv));
