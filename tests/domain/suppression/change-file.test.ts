import { finished, buildSuppressionRequests } from '../../support/imports';
import { useWorld } from '../../support/use-world';

const world = useWorld({ jobs: true });
const { api, create, upload } = buildSuppressionRequests(() => world);

const CSV =
  'phone,name\n3105550123,Ann\n+1 212 555 0145,Bob\n310-555-0123,Ann again\nnone,"=cmd()"\n';

describe('a suppression file', () => {
  test('waits until it has both its content and its list', async () => {
    const list = await create();
    const draft = (await api('post', 'buyer_suppression_files', { body: { name: 'Draft' } })).body
      .buyer_suppression_file;
    expect(draft).toMatchObject({
      status: 'pending',
      buyer_suppression_id: null,
      import_file_url: null,
    });
    const withList = await api('put', `buyer_suppression_files/${draft.id}`, {
      body: { buyer_suppression_id: list.uuid },
    });
    expect(withList.body.buyer_suppression_file).toMatchObject({
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

  test('whose column is not found fails; a PUT with the right name starts it again', async () => {
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
    const response = await api('put', path, { body: { caller_id_column_name: 'b' } });
    expect(response.body.buyer_suppression_file).toMatchObject({
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

  test('can be corrected through its list too', async () => {
    const { id } = (
      await upload('buyer_suppressions', 'a,b\n3105550123,2125550145\n', {
        name: 'Corrected',
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

  test('that has succeeded runs again only when what it depends on changes', async () => {
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

  test('that names no column uses the one that its list names, if it has it', async () => {
    const list = await create({ caller_id_column_name: 'home' });
    const both = 'home,mobile\n3105550123,2125550145\n';
    const file = (
      await upload('buyer_suppression_files', both, { buyer_suppression_id: String(list.id) })
    ).body.buyer_suppression_file;
    expect(await finished(world.company.api, `buyer_suppression_files/${file.id}`)).toMatchObject({
      status: 'succeeded',
      caller_id_column_name: 'home',
    });
    const otherFile = (
      await upload('buyer_suppression_files', 'tel\n3105550123\n', {
        buyer_suppression_id: String(list.id),
      })
    ).body.buyer_suppression_file;
    expect(
      await finished(world.company.api, `buyer_suppression_files/${otherFile.id}`),
    ).toMatchObject({
      status: 'succeeded',
      caller_id_column_name: 'tel',
    });
  });

  test('can move between lists while another moves in the opposite direction', async () => {
    const [firstList, secondList] = [await create(), await create()];
    const files = await Promise.all(
      [firstList, secondList].map(
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
          body: { buyer_suppression_id: n ? firstList.id : secondList.id },
        }),
      ),
    );
    expect(moves.map(({ status }) => status)).toEqual([200, 200]);
    for (const id of files)
      expect((await finished(world.company.api, `buyer_suppression_files/${id}`)).status).toBe(
        'failed',
      );
  });

  test('can be stopped, and starts again when a field it depends on is sent', async () => {
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
});
