import { createServer } from 'node:http';

// Accepts and counts every request that is not a GET. GET /count returns the count; GET /livez
// returns ok.

let received = 0;
createServer((req, res) => {
  if (req.method === 'GET') return void res.end(req.url === '/count' ? String(received) : 'ok');
  req.resume().once('end', () => {
    received++;
    res.writeHead(200, { 'Content-Type': 'text/plain' }).end('ok');
  });
}).listen(Number(process.env.PORT), '127.0.0.1');
