// threads.cpp - two tables fitted and orbits simulated at once, each by a thread with its own handle.
//
//     c++ -std=c++17 threads.cpp -o threads $(pkg-config --cflags --libs orrery) -pthread
//     ./threads
#include <cmath>
#include <iostream>
#include <memory>
#include <orrery.h>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

struct free_regression {
    void operator()(orrery_regression *r) const { orrery_regression_free(r); }
};
using regression = std::unique_ptr<orrery_regression, free_regression>;

static void check(const regression &r, int status)
{
    if (status)
        throw std::runtime_error(orrery_message(r.get()));
}

static std::string fit(double (*law)(double))
{
    orrery_regression *created = nullptr;
    if (const int status = orrery_regression_create(ORRERY_INTERFACE, &created))
        throw std::runtime_error(orrery_status_text(status));
    const regression r(created);
    std::vector<double> x, y;
    for (int i = 1; i <= 30; i++) {
        x.push_back(0.3 * i);
        y.push_back(law(x.back()));
    }
    orrery_table table{};
    table.bytes = sizeof table;
    table.rows = x.size();
    table.columns = 1;
    table.x = x.data();
    table.y = y.data();
    int row = 0;
    char text[256];
    check(r, orrery_regression_set(r.get(), "maxsize", "8"));
    check(r, orrery_regression_set(r.get(), "iterations", "5"));
    check(r, orrery_regression_set(r.get(), "enumerate", "20000"));
    check(r, orrery_regression_data(r.get(), &table));
    check(r, orrery_regression_search(r.get(), 1, nullptr, nullptr));
    check(r, orrery_regression_select(r.get(), "best", &row));
    check(r, orrery_regression_print(r.get(), row, ORRERY_TEXT, text, sizeof text, nullptr));
    return text;
}

int main()
{
    std::string square, root;
    std::vector<double> state(4 * 1001);
    int status = ORRERY_OK;
    std::thread first([&] { square = fit([](double v) { return 3 * v * v; }); });
    std::thread second([&] { root = fit([](double v) { return std::sqrt(v) + 2; }); });
    std::thread third([&] {
        orrery_simulation *s = nullptr;
        const orrery_elements orbit{1, 0.3, 0, 0, 0};
        status = orrery_simulation_create(ORRERY_INTERFACE, &s);
        if (!status)
            status = orrery_simulation_set(s, "orbits.law=mond\n");
        if (!status)
            status = orrery_simulation_orbit(s, &orbit, 0.1, 1, 0.01, 1001, state.data());
        orrery_simulation_free(s);
    });
    first.join();
    second.join();
    third.join();
    std::cout << square << '\n' << root << '\n' << status << ' ' << state[4000] << '\n';
}
