const { createServer } = require('node:http');
const { parentPort, workerData } = require('node:worker_threads');

// Bidders, each on its own port, that bid 20 dollars after a delay. Posts their ports to the thread
// that started it.

const ANSWER = JSON.stringify({ accept: true, bid: 20 });

async function startBidder() {
  const server = createServer((req, res) => {
    Atomics.add(workerData.request_counter, 0, 1);
    req.resume();
    setTimeout(() => res.end(ANSWER), workerData.answer_ms);
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  return server.address().port;
}

Promise.all(Array.from({ length: workerData.count }, startBidder)).then((ports) =>
  parentPort.postMessage(ports),
);
