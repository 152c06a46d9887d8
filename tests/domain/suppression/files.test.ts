import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { contract } from '../../../src/platform/contract/contract';
import { finished, loadNumbers, buildSuppressionRequests } from '../../support/imports';
import { useWorld } from '../../support/use-world';
import { eventually } from '../../support/engine-process';

const world = useWorld({ jobs: true });
let buyers: number[];
const { api, create, createBuyers, upload } = buildSuppressionRequests(() => world);
beforeAll(async () => {
  buyers = await createBuyers();
});

describe('a suppression file', () => {
  const CSV =
    'phone,name\n3105550123,Ann\n+1 212 555 0145,Bob\n310-555-0123,Ann again\nnone,"=cmd()"\n';

  test('that is sent with a new list is imported, and the list shows its progress', async () => {
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
    expect(await loadNumbers(world.company.api, list.id as never)).toEqual([
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

  test('shows its rejected rows with line and reason, as JSON and as safe CSV', async () => {
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

  test('can be downloaded unchanged, with its name', async () => {
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
    const otherCompany = await world.addCompany();
    expect((await otherCompany.api('get', import_file_url)).status).toBe(404);
    const without = (await api('post', 'buyer_suppression_files', { body: {} })).body
      .buyer_suppression_file;
    expect(without.import_file_url).toBeNull();
    expect((await api('get', `buyer_suppression_files/${without.id}/import_file`)).status).toBe(
      404,
    );
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
    const query = { buyer_suppression_id: 999999999 };
    expect((await api('get', 'buyer_suppression_files', { query })).status).toBe(422);
  });

  test('new shows a record with its parameters', async () => {
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

  test('with only a header succeeds without numbers', async () => {
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
    const incoming = () => readdirSync(join(world.deps.config.storage_dir, 'incoming'));
    const res = await theirs.api('post', 'buyer_suppression_files', {
      form: { import_file: Buffer.from(CSV), buyer_suppression_id: String(list.id) },
    });
    expect([res.status, res.body.errors]).toEqual([
      422,
      { buyer_suppression_id: [expect.stringContaining('names no record of yours')] },
    ]);
    expect((await theirs.api('get', 'buyer_suppression_files')).body.metadata.total_count).toBe(0);
    expect(incoming()).toEqual([]);
  });
});

test('deleting a list deletes its numbers, files and attachments', async () => {
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
        `SELECT
          (SELECT count(*) FROM buyer_suppression_numbers WHERE buyer_suppression_id = $1)
          + (SELECT count(*) FROM rejected_rows WHERE buyer_suppression_file_id = $2)
          + (
            SELECT count(*) FROM buyer_suppression_files
            WHERE id = $2 AND import_file_key IS NOT NULL
          ) AS n`,
        [id, files[0].id],
      )
    )[0]!.n;
  await eventually(async () => (await left()) === '0', 20);
});

test('the columns of lists and files are those of the contract', async () => {
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
