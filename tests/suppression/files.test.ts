import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { contract } from '../../src/contract';
import { finished, numbersOf, suppressionOf } from '../support/imports';
import { createWorld, type World } from '../support/world';

let world: World;
let buyers: number[];
const { api, create, createBuyers, upload } = suppressionOf(() => world);
beforeAll(async () => {
  world = await createWorld();
  await world.work();
  buyers = await createBuyers();
});
afterAll(() => world.close());

describe('a suppression file', () => {
  const CSV =
    'phone,name\n3105550123,Ann\n+1 212 555 0145,Bob\n310-555-0123,Ann again\nnone,"=cmd()"\n';

  test('that comes with its list is imported, and the list tells how far it is', async () => {
    const { body } = await upload('buyer_suppressions', CSV, {
      name: 'With file',
      'buyer_ids[]': buyers.map(String),
    });
    expect(body.buyer_suppression).toMatchObject({
      name: 'With file',
      status: 'pending',
      import_percent: 0,
      buyer_ids: buyers,
    });
    const list = await finished(
      world.company.api,
      `buyer_suppressions/${body.buyer_suppression.id}`,
    );
    expect(list).toMatchObject({
      status: 'succeeded',
      headers: ['phone', 'name'],
      caller_id_column_name: 'phone',
      blocked: 2,
      import_count: 3,
      total_count: 4,
      import_percent: 100,
      error_message: null,
      failed_at: null,
      stopped_at: null,
    });
    expect(Date.parse(String(list.succeeded_at))).toBeGreaterThanOrEqual(
      Date.parse(String(list.started_at)),
    );
    expect(await numbersOf(world.company.api, list.id as never)).toEqual([
      '+12125550145',
      '+13105550123',
    ]);
  });

  test('blocks or unblocks, and counts what it did', async () => {
    const { id } = await create();
    const first = (
      await upload('buyer_suppression_files', CSV, { buyer_suppression_id: String(id) })
    ).body.buyer_suppression_file;
    expect(first).toMatchObject({
      type: 'BuyerSuppressionFile',
      name: 'numbers.csv',
      buyer_suppression_id: id,
      apply_block_or_unblock: 'block',
      status: 'pending',
      user_id: null,
    });
    expect(await finished(world.company.api, `buyer_suppression_files/${first.id}`)).toMatchObject({
      status: 'succeeded',
      total_count: 4,
      import_count: 3,
      rejected_count: 1,
      added_count: 2,
      removed_count: 0,
      import_percent: 100,
    });
    const off = await upload('buyer_suppression_files', 'tel\n2125550145\n9995550000\n', {
      buyer_suppression_id: String(id),
      apply_block_or_unblock: 'unblock',
      name: 'Off',
    });
    expect(
      await finished(
        world.company.api,
        `buyer_suppression_files/${off.body.buyer_suppression_file.id}`,
      ),
    ).toMatchObject({
      name: 'Off',
      added_count: 0,
      removed_count: 1,
    });
    expect((await api('get', `buyer_suppressions/${id}`)).body.buyer_suppression).toMatchObject({
      blocked: 1,
      status: 'succeeded',
      headers: ['tel'],
    });
  });

  test('gives its rejected rows with line and reason, as JSON and as CSV that is safe to open', async () => {
    const { id } = (
      await upload('buyer_suppression_files', CSV.replace('none', '=1+1'), {
        buyer_suppression_id: String((await create()).id),
      })
    ).body.buyer_suppression_file;
    await finished(world.company.api, `buyer_suppression_files/${id}`);
    const { body } = await api('get', `buyer_suppression_files/${id}/rejected_rows`);
    expect(body.rejected_rows).toEqual([
      { line: 5, caller_id: '=1+1', reason: 'is not a possible telephone number' },
    ]);
    expect(body.metadata).toMatchObject({ root: 'rejected_rows', total_count: 1, next_cursor: 0 });
    expect((await api('get', `buyer_suppression_files/${id}/rejected_rows.csv`)).text).toBe(
      "line,caller_id,reason\n5,'=1+1,is not a possible telephone number\n",
    );
  });

  test('is given back byte by byte, with its name', async () => {
    const content = Buffer.from('\ufeffphone;name\r\n3105550123;Ann\r\n');
    const res = await api('post', 'buyer_suppression_files', {
      form: { import_file: content },
      file_name: 'Nov\u00e9mber "1".csv',
    });
    const { import_file_url } = res.body.buyer_suppression_file as { import_file_url: string };
    expect(res.body.buyer_suppression_file.name).toBe('Nov\u00e9mber "1".csv');
    const file = await api('get', import_file_url);
    expect([
      file.status,
      Buffer.compare(file.body, content),
      file.headers['x-content-type-options'],
    ]).toEqual([200, 0, 'nosniff']);
    expect(file.headers['content-disposition']).toContain(
      "filename*=UTF-8''Nov%C3%A9mber%20%221%22.csv",
    );
    const other = await world.addCompany();
    expect((await other.api('get', import_file_url)).status).toBe(404);
    const without = (await api('post', 'buyer_suppression_files', { body: {} })).body
      .buyer_suppression_file;
    expect(without.import_file_url).toBeNull();
    expect((await api('get', `buyer_suppression_files/${without.id}/import_file`)).status).toBe(
      404,
    );
  });

  test('waits until it has both its content and its list', async () => {
    const list = await create();
    const draft = (await api('post', 'buyer_suppression_files', { body: { name: 'Draft' } })).body
      .buyer_suppression_file;
    expect(draft).toMatchObject({
      status: 'pending',
      buyer_suppression_id: null,
      import_file_url: null,
    });
    const with_list = await api('put', `buyer_suppression_files/${draft.id}`, {
      body: { buyer_suppression_id: list.uuid },
    });
    expect(with_list.body.buyer_suppression_file).toMatchObject({
      status: 'pending',
      buyer_suppression_id: list.id,
    });
    await api('put', `buyer_suppression_files/${draft.id}`, {
      form: { import_file: Buffer.from(CSV) },
    });
    expect(await finished(world.company.api, `buyer_suppression_files/${draft.id}`)).toMatchObject({
      name: 'Draft',
      status: 'succeeded',
      added_count: 2,
    });
  });

  test('whose column is not found fails with its headers, and a PUT with the right name starts it again', async () => {
    const { id } = (
      await upload('buyer_suppression_files', 'a,b\n3105550123,2125550145\n', {
        buyer_suppression_id: String((await create()).id),
      })
    ).body.buyer_suppression_file;
    const path = `buyer_suppression_files/${id}`;
    expect(await finished(world.company.api, path)).toMatchObject({
      status: 'failed',
      headers: ['a', 'b'],
      error_message: expect.stringContaining('caller_id_column_name'),
      import_count: 0,
    });
    const again = await api('put', path, { body: { caller_id_column_name: 'b' } });
    expect(again.body.buyer_suppression_file).toMatchObject({
      status: 'pending',
      error_message: null,
      failed_at: null,
    });
    expect(await finished(world.company.api, path)).toMatchObject({
      status: 'succeeded',
      caller_id_column_name: 'b',
      added_count: 1,
    });
  });

  test('is mended through its list just as well', async () => {
    const { id } = (
      await upload('buyer_suppressions', 'a,b\n3105550123,2125550145\n', {
        name: 'Mend',
        caller_id_column_name: 'phone',
      })
    ).body.buyer_suppression;
    const path = `buyer_suppressions/${id}`;
    expect(await finished(world.company.api, path)).toMatchObject({
      status: 'failed',
      headers: ['a', 'b'],
      caller_id_column_name: 'phone',
      error_message: expect.stringContaining('No column is called phone'),
    });
    const etag = (await api('get', path)).headers.etag!;
    await api('put', path, { body: { caller_id_column_name: 'a' }, headers: { 'If-Match': etag } });
    expect(await finished(world.company.api, path)).toMatchObject({
      status: 'succeeded',
      caller_id_column_name: 'a',
      blocked: 1,
    });
    await api('put', path, { body: { caller_id_column_name: 'b' } });
    expect((await api('get', path)).body.buyer_suppression.status).toBe('succeeded');
  });

  test('that has succeeded runs again only when what it depends on changes, and doubles nothing', async () => {
    const { id } = (
      await upload('buyer_suppression_files', CSV, {
        buyer_suppression_id: String((await create()).id),
      })
    ).body.buyer_suppression_file;
    const path = `buyer_suppression_files/${id}`;
    const before = await finished(world.company.api, path);
    expect(
      (await api('put', path, { body: { name: 'x', apply_block_or_unblock: 'block' } })).body
        .buyer_suppression_file.status,
    ).toBe('succeeded');
    await api('put', path, { body: { apply_block_or_unblock: 'unblock' } });
    expect(await finished(world.company.api, path)).toMatchObject({
      removed_count: 2,
      added_count: 0,
      total_count: before.total_count,
    });
    await api('put', path, { body: { apply_block_or_unblock: 'block' } });
    expect(await finished(world.company.api, path)).toMatchObject({
      removed_count: 0,
      added_count: 2,
    });
    const more = await api('put', path, {
      form: { import_file: Buffer.from('phone\n3105550123\n6175550144\n') },
    });
    expect(more.body.buyer_suppression_file.status).toBe('pending');
    expect(await finished(world.company.api, path)).toMatchObject({
      total_count: 2,
      added_count: 1,
      headers: ['phone'],
    });
  });

  test('that is sent back as it is shown is not imported again', async () => {
    const { id } = (
      await upload('buyer_suppression_files', CSV, {
        buyer_suppression_id: String((await create()).id),
      })
    ).body.buyer_suppression_file;
    const path = `buyer_suppression_files/${id}`;
    const { buyer_suppression_id, apply_block_or_unblock, caller_id_column_name, headers } =
      await finished(world.company.api, path);
    const body = {
      name: 'Renamed',
      buyer_suppression_id,
      apply_block_or_unblock,
      caller_id_column_name,
      headers,
    };
    expect((await api('put', path, { body })).body.buyer_suppression_file).toMatchObject({
      name: 'Renamed',
      status: 'succeeded',
    });
  });

  test('that names no column is looked through for the one its list names first', async () => {
    const list = await create({ caller_id_column_name: 'home' });
    const both = 'home,mobile\n3105550123,2125550145\n';
    const file = (
      await upload('buyer_suppression_files', both, { buyer_suppression_id: String(list.id) })
    ).body.buyer_suppression_file;
    expect(await finished(world.company.api, `buyer_suppression_files/${file.id}`)).toMatchObject({
      status: 'succeeded',
      caller_id_column_name: 'home',
    });
    const other = (
      await upload('buyer_suppression_files', 'tel\n3105550123\n', {
        buyer_suppression_id: String(list.id),
      })
    ).body.buyer_suppression_file;
    expect(await finished(world.company.api, `buyer_suppression_files/${other.id}`)).toMatchObject({
      status: 'succeeded',
      caller_id_column_name: 'tel',
    });
  });

  test('moves between lists, to and fro at once', async () => {
    const [one, two] = [await create(), await create()];
    const files = await Promise.all(
      [one, two].map(
        async (list) =>
          (
            await upload('buyer_suppression_files', 'a,b\nx,y\n', {
              buyer_suppression_id: String(list.id),
            })
          ).body.buyer_suppression_file.id,
      ),
    );
    for (const id of files) await finished(world.company.api, `buyer_suppression_files/${id}`);
    const moves = await Promise.all(
      files.map((id, n) =>
        api('put', `buyer_suppression_files/${id}`, {
          body: { buyer_suppression_id: n ? one.id : two.id },
        }),
      ),
    );
    expect(moves.map(({ status }) => status)).toEqual([200, 200]);
    for (const id of files)
      expect((await finished(world.company.api, `buyer_suppression_files/${id}`)).status).toBe(
        'failed',
      );
  });

  test('is stopped, and started again by sending what it depends on', async () => {
    const draft = (await upload('buyer_suppression_files', CSV)).body.buyer_suppression_file;
    const stopped = await api('post', `buyer_suppression_files/${draft.id}/stop`);
    expect(stopped.body.buyer_suppression_file).toMatchObject({
      status: 'stopped',
      stopped_at: expect.any(String),
    });
    expect((await api('post', `buyer_suppression_files/${draft.id}/stop`)).status).toBe(200);
    await api('put', `buyer_suppression_files/${draft.id}`, {
      body: { buyer_suppression_id: (await create()).id },
    });
    expect(await finished(world.company.api, `buyer_suppression_files/${draft.id}`)).toMatchObject({
      status: 'succeeded',
      stopped_at: null,
    });
    expect((await api('post', `buyer_suppression_files/${draft.id}/stop`)).body.errors).toEqual({
      status: ['is succeeded already: there is nothing to stop'],
    });
  });

  test('is listed by list and by status', async () => {
    const list = await create();
    const { id } = (
      await upload('buyer_suppression_files', CSV, { buyer_suppression_id: list.uuid })
    ).body.buyer_suppression_file;
    await finished(world.company.api, `buyer_suppression_files/${id}`);
    const ids = async (query: object) =>
      (await api('get', 'buyer_suppression_files', { query })).body.buyer_suppression_files.map(
        (file: { id: number }) => file.id,
      );
    expect(await ids({ buyer_suppression_id: list.id })).toEqual([id]);
    expect(await ids({ buyer_suppression_id: list.uuid, status: 'succeeded' })).toEqual([id]);
    expect(await ids({ buyer_suppression_id: list.id, status: 'failed' })).toEqual([]);
    expect(await ids({ buyer_suppression_id: 999999999 })).toEqual([]);
  });

  test('new takes its parameters into the record', async () => {
    const list = await create();
    const { body } = await api('get', 'buyer_suppression_files/new', {
      query: {
        name: 'N',
        buyer_suppression_id: list.uuid,
        apply_block_or_unblock: 'unblock',
        caller_id_column_name: 'tel',
        headers: 'tel,who',
        import_file: '',
      },
    });
    expect(body.buyer_suppression_file).toMatchObject({
      id: null,
      name: 'N',
      buyer_suppression_id: list.id,
      apply_block_or_unblock: 'unblock',
      caller_id_column_name: 'tel',
      headers: ['tel', 'who'],
      status: 'pending',
    });
    expect(
      (await api('get', 'buyer_suppression_files/new')).body.buyer_suppression_file
        .apply_block_or_unblock,
    ).toBe('block');
    const theirs = await world.addCompany();
    const foreign = await theirs.api('get', 'buyer_suppression_files/new', {
      query: { buyer_suppression_id: list.id },
    });
    expect(foreign.body.errors).toEqual({ buyer_suppression_id: [expect.any(String)] });
  });

  test('of a header and nothing else has succeeded with nothing', async () => {
    const { id } = (
      await upload('buyer_suppression_files', 'phone,name\n', {
        buyer_suppression_id: String((await create()).id),
      })
    ).body.buyer_suppression_file;
    expect(await finished(world.company.api, `buyer_suppression_files/${id}`)).toMatchObject({
      status: 'succeeded',
      total_count: 0,
      import_count: 0,
      import_percent: 100,
    });
  });

  test("that names another company's list is refused, and leaves nothing behind", async () => {
    const list = await create();
    const theirs = await world.addCompany();
    const kept = () => readdirSync(join(world.deps.config.storage_dir, 'incoming'));
    const res = await theirs.api('post', 'buyer_suppression_files', {
      form: { import_file: Buffer.from(CSV), buyer_suppression_id: String(list.id) },
    });
    expect([res.status, res.body.errors]).toEqual([
      422,
      { buyer_suppression_id: [expect.stringContaining('names no record of yours')] },
    ]);
    expect((await theirs.api('get', 'buyer_suppression_files')).body.metadata.total_count).toBe(0);
    expect(kept()).toEqual([]);
  });
});

test('a deleted list takes its numbers, files and attachments with it', async () => {
  const { id } = (
    await upload('buyer_suppressions', 'phone\n3105550123\nbad\n', {
      name: 'Gone',
      buyer_ids: String(buyers[0]),
    })
  ).body.buyer_suppression;
  await finished(world.company.api, `buyer_suppressions/${id}`);
  const files = (
    await api('get', 'buyer_suppression_files', { query: { buyer_suppression_id: id } })
  ).body.buyer_suppression_files;
  const count = async () =>
    (await api('get', 'buyer_suppression_files', { query: { per_page: 1 } })).body.metadata
      .total_count;
  const before = await count();
  expect((await api('delete', `buyer_suppressions/${id}`)).body.buyer_suppression).toMatchObject({
    deleted_at: expect.any(String),
    buyer_ids: [],
  });
  expect((await api('get', `buyer_suppression_files/${files[0].id}`)).status).toBe(404);
  expect(await count()).toBe(before - 1);
  for (const path of [`buyer_suppressions/${id}/caller_ids`, files[0].import_file_url])
    expect((await api('get', path)).status).toBe(404);
  const left = async () =>
    (
      await world.sql(
        'SELECT (SELECT count(*) FROM buyer_suppression_numbers WHERE buyer_suppression_id = $1) + (SELECT count(*) FROM rejected_rows WHERE buyer_suppression_file_id = $2) + (SELECT count(*) FROM buyer_suppression_files WHERE id = $2 AND import_file_key IS NOT NULL) AS n',
        [id, files[0].id],
      )
    )[0]!.n;
  for (let tries = 0; (await left()) !== '0'; tries++) {
    if (tries > 200) throw new Error(`${await left()} left`);
    await new Promise((done) => setTimeout(done, 20));
  }
});

test('every column of an import is one that the contract describes, and all are there', async () => {
  for (const [path, schema] of [
    ['buyer_suppressions', 'BuyerSuppression'],
    ['buyer_suppression_files', 'BuyerSuppressionFile'],
  ] as const) {
    const { body } = await api('get', path, {
      query: { per_page: 1, serializer: `${path.slice(0, -1)}_grid` },
    });
    expect(Object.keys(body[path][0])).toEqual(
      Object.keys(contract.document.components.schemas[schema]!.properties!),
    );
  }
});
